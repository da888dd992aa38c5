// Tests of the commands that the shell parses, and of the lines that it refuses.

package play

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCurl(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.RequestURI() {
		case "/pods?app=web":
			fmt.Fprint(w, `[{"metadata":{"name":"web-0"}},{"metadata":{"name":"web-1"}}]`+"\n")
		case "/text":
			fmt.Fprint(w, "hello")
		default:
			http.Error(w, `{"error":"not here"}`, http.StatusNotFound)
		}
	}))
	defer server.Close()
	s := &shell{address: func() string { return strings.TrimPrefix(server.URL, "http://") }}
	for line, want := range map[string][]string{
		`curl http://ADDRESS/text`:                                               {"hello"},
		`curl -sw ' %{http_code}' 'http://ADDRESS/text'`:                         {"hello 200"},
		`curl -sw ' %{http_code}' 'http://ADDRESS/no'`:                           {`{"error":"not here"}`, " 404"},
		`curl -s 'http://ADDRESS/pods?app=web' | jq -c '[.[].metadata.name]'`:    {`["web-0","web-1"]`},
		`curl -s 'http://ADDRESS/pods?app=web' | jq -c '.[].metadata.name'`:      {`"web-0"`, `"web-1"`},
		`curl -s 'http://ADDRESS/pods?app=web' | jq -c .[0]`:                     {`{"metadata":{"name":"web-0"}}`},
		`curl -s 'http://ADDRESS/no' | jq -c .error`:                             {`"not here"`},
		`curl -sw ' %{http_code}' 'http://ADDRESS/no' | grep -E '^ [0-9]{3}$|x'`: {" 404"},
		`curl -s 'http://ADDRESS/text' | jq -c .`: {
			"jq: error: invalid character 'h' looking for beginning of value",
		},
		`curl -s 'http://ADDRESS/no' | jq -c '.[0]'`: {
			`jq: error: expected an array but got: object ({"error":"not here"})`,
		},
		`curl -s 'http://ADDRESS/pods?app=web' | jq -c '.[0].metadata, unicorns'`: {
			"jq: error: function not defined: unicorns/0",
		},
	} {
		command, err := s.parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !command.question {
			t.Errorf("%s is not a question, want one", line)
		}
		if got := command.run(t.Context()); !slices.Equal(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", line, got, want)
		}
	}
}

// A handler answers requests in memory. It is for tests in fake time, because fake time stands
// still while a request is on a real network.
type handler func(http.ResponseWriter, *http.Request)

// RoundTrip implements http.RoundTripper.
func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	h(answer, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// serving is a step with a web server that runs until it is stopped. The handler of the test
// answers its requests.
var serving = Step{Run: func(ctx context.Context, env *Env) error {
	env.ServesAt("example.com")
	fmt.Fprintln(env.Out, "serving")
	<-ctx.Done()
	return nil
}}

// The player waits for an answer that is not right yet. If the answer stays wrong, the wait ends
// after some time.
func TestAQuestionIsAskedAgain(t *testing.T) {
	for expected, text := range map[string]string{"later than true": "", "sooner": "-sooner"} {
		t.Run(expected, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				c := chapterOf(serving, "serving\n$ curl -s 'http://ADDRESS/'\n"+expected+"\n")
				c.network = handler(func(w http.ResponseWriter, _ *http.Request) {
					fmt.Fprintf(w, "later than %t", time.Since(began) > settleTimeout+settleTimeout/2)
				})
				wantError(t, c.checkStep(t.Context(), c.Steps[0].Name, 3*settleTimeout, func(string) {}), text)
			})
		})
	}
}

func TestTheShellRefuses(t *testing.T) {
	for line, text := range map[string]string{
		`make coffee`:                              "the player knows kubectl, curl, and curl | jq or grep",
		`curl http://example.com/`:                 "curl asks the step's own server",
		`curl -s http://ADDRESS/ | sed s/a/b/`:     "the player knows",
		`curl -s http://ADDRESS/ | jq . | jq -c .`: "there is no shell here",
		`curl -s http://ADDRESS/ |jq`:              "want: jq -c FILTER",
		`curl -s http://ADDRESS/ | jq -r .`:        "want: jq -c FILTER",
		`curl -s http://ADDRESS/ | jq -c '.['`:     "unexpected EOF",
		`curl -s http://ADDRESS/ | grep -E`:        "want: grep -E PATTERN",
		`curl -s http://ADDRESS/ | grep -E '('`:    "missing closing )",
		`curl -s http://ADDRESS/ |`:                "nothing stands behind the |",
		`curl -s http://ADDRESS/| jq -c .`:         "there is no shell here",
		`| jq -c .`:                                "there is no shell here",
		`kubectl get pods -o name | jq -c .`:       "the player knows",
		`kubectl get pods > file`:                  "there is no shell here",
		`kubectl get 'pods`:                        "is not closed",
		`kubectl`:                                  "the player knows",
	} {
		_, err := new(shell).parse(line)
		wantError(t, err, text)
	}
}
