// The commands of a transcript that begin with "$ ": kubectl and curl, whose answer
// can go through jq or grep.

package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/spf13/pflag"
)

// A shell understands the commands. Its zero value can distinguish a good line
// from a bad one.
type shell struct {
	cluster Cluster           // nil for a step without one
	files   fs.FS             // where "-f FILE" is found, in testdata
	address func() string     // of the step's web server
	network http.RoundTripper // answers curl; nil: the real one
}

// A command is ready to run. A question is asked again until the answer is the
// expected one.
type command struct {
	question bool
	run      func(ctx context.Context) (answer []string)
}

// parse returns the command of a line, without the "$ ".
func (s *shell) parse(ctx context.Context, line string) (command, error) {
	if s.cluster != nil {
		line = strings.ReplaceAll(line, "NAMESPACE", s.cluster.Namespace())
	}
	args, piped, err := split(line)
	if err != nil {
		return command{}, err
	}
	switch {
	case len(args) > 1 && args[0] == "kubectl" && len(piped) == 0:
		return s.kubectl(ctx, args[1], args[2:])
	case len(args) > 0 && args[0] == "curl" && len(piped) == 0:
		return s.curl(args[1:])
	case len(args) > 0 && args[0] == "curl" && filters[piped[0]] != nil:
		asked, err := s.curl(args[1:])
		if err != nil {
			return command{}, err
		}
		filter, err := filters[piped[0]](piped[1:])
		filtered := func(ctx context.Context) []string { return filter(ctx, asked.run(ctx)) }
		return command{question: true, run: filtered}, err
	default:
		return command{}, errors.New("the player knows kubectl, curl, and curl | jq or grep, and nothing else")
	}
}

// kubectl runs kubectl in the step's namespace. There has to be one.
func (s *shell) kubectl(ctx context.Context, verb string, args []string) (command, error) {
	if s.cluster == nil {
		return command{run: func(context.Context) []string { return []string{"error: this step has no cluster"} }}, nil
	}
	return command{question: verb == "get", run: func(ctx context.Context) []string {
		answer, err := s.cluster.Kubectl(ctx, s.files, verb, args...)
		if err != nil {
			return []string{err.Error()}
		}
		return answer
	}}, s.cluster.FindKubectl(ctx)
}

// curl asks the step's web server. Its flags are -s, -X, -d, and -w with the variable
// %{http_code}. What does not only read is asked for once.
func (s *shell) curl(args []string) (command, error) {
	flags := pflag.NewFlagSet("curl", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolP("silent", "s", false, "")
	write := flags.StringP("write-out", "w", "", "")
	method := flags.StringP("request", "X", http.MethodGet, "")
	data := flags.StringP("data", "d", "", "")
	if err := flags.Parse(args); err != nil {
		return command{}, err
	}
	url, own := strings.CutPrefix(flags.Arg(0), "http://ADDRESS/")
	if flags.NArg() != 1 || !own {
		return command{}, fmt.Errorf("curl asks the step's own server for one page: want http://ADDRESS/PATH, got %q",
			flags.Args())
	}
	return command{question: *method == http.MethodGet, run: func(ctx context.Context) []string {
		status, body, err := request(ctx, s.network, *method, "http://"+s.address()+"/"+url, *data)
		if err != nil {
			return []string{"curl: " + err.Error()}
		}
		body += strings.NewReplacer("%{http_code}", fmt.Sprint(status), `\n`, "\n").Replace(*write)
		return strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	}}, nil
}

// request asks for a page.
func request(ctx context.Context, network http.RoundTripper, method, url, data string) (
	status int, body string, err error,
) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(data))
	if err != nil {
		return 0, "", err
	}
	if network == nil {
		network = &http.Transport{DisableKeepAlives: true}
	}
	client := http.Client{Transport: network}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// A line is words, cut at spaces as a shell does, but not inside of quotes; and
// perhaps a | and more words.
const word = `(?:[^ '"\\$|&;<>*?()` + "`" + `]|'[^']*'|"[^"]*")+`

var (
	words  = regexp.MustCompile(word)
	quoted = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
	whole  = regexp.MustCompile(`^((?: *` + word + `)+)(?: +(\|)((?: *` + word + `)*))? *$`)
)

// split cuts a line into words. Those behind a | are piped.
func split(line string) (args, piped []string, err error) {
	parts := whole.FindStringSubmatch(line)
	switch {
	case parts == nil:
		return nil, nil, errors.New(
			"a quote is not closed, or a special character stands outside of quotes: there is no shell here")
	case parts[2] != "" && parts[3] == "":
		return nil, nil, errors.New("nothing stands behind the |")
	}
	return cut(parts[1]), cut(parts[3]), nil
}

func cut(text string) []string {
	all := words.FindAllString(text, -1)
	for i, one := range all {
		all[i] = quoted.ReplaceAllString(one, "$1$2")
	}
	return all
}

// A filter changes an answer.
type filter func(ctx context.Context, lines []string) []string

// filters are the programs behind a |, by name.
var filters = map[string]func(args []string) (filter, error){"jq": parseJQ, "grep": parseGrep}

// parseGrep returns the filter of "grep -E PATTERN".
func parseGrep(args []string) (filter, error) {
	if len(args) != 2 || args[0] != "-E" {
		return nil, fmt.Errorf("want: grep -E PATTERN, got %q", args)
	}
	pattern, err := regexp.Compile(args[1])
	return func(_ context.Context, lines []string) []string {
		return slices.DeleteFunc(lines, func(line string) bool { return !pattern.MatchString(line) })
	}, err
}

// parseJQ returns the filter of "jq -c FILTER". (The keys of an object come out in
// the order of the alphabet.)
func parseJQ(args []string) (filter, error) {
	if len(args) != 2 || args[0] != "-c" {
		return nil, fmt.Errorf("want: jq -c FILTER, got %q", args)
	}
	query, err := gojq.Parse(args[1])
	return func(ctx context.Context, lines []string) (results []string) {
		var value any
		if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &value); err != nil {
			return []string{"jq: error: " + err.Error()}
		}
		for found := query.RunWithContext(ctx, value); ; {
			result, ok := found.Next()
			if err, failed := result.(error); failed {
				return append(results, "jq: error: "+err.Error())
			} else if !ok {
				return results
			}
			text, _ := gojq.Marshal(result) // what comes out of a query can be printed
			results = append(results, string(text))
		}
	}, err
}
