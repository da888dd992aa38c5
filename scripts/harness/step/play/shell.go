// The commands of a transcript that begin with "$ ": kubectl, and curl, whose answer can go through
// jq or grep.

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

// A shell parses the commands. The zero value can only tell whether a line is a command.
type shell struct {
	cluster Cluster           // nil for a step without one
	files   fs.FS             // has the files of "-f FILE", in testdata
	address func() string     // returns the address of the step's web server
	network http.RoundTripper // answers curl; nil: the real network
}

// A command is ready to run.
type command struct {
	question bool // it is run again until its answer is the expected one
	run      func(ctx context.Context) (answer []string)
}

// parse returns the command of a line, without the "$ ".
func (s *shell) parse(line string) (command, error) {
	if s.cluster != nil {
		line = strings.ReplaceAll(line, "NAMESPACE", s.cluster.Namespace())
	}
	args, piped, err := split(line)
	if err != nil {
		return command{}, err
	}
	switch {
	case len(args) > 1 && args[0] == "kubectl" && len(piped) == 0:
		return s.kubectl(args[1], args[2:])
	case len(args) > 0 && args[0] == "curl" && len(piped) == 0:
		return s.curl(args[1:])
	case len(args) > 0 && args[0] == "curl" && filterParsers[piped[0]] != nil:
		return s.filteredCurl(args[1:], piped[0], piped[1:])
	default:
		return command{}, errors.New("the player knows kubectl, curl, and curl | jq or grep, and nothing else")
	}
}

// kubectl returns the command that runs kubectl in the step's namespace.
func (s *shell) kubectl(verb string, args []string) (command, error) {
	if s.cluster == nil {
		return command{run: func(context.Context) []string { return []string{"error: this step has no cluster"} }}, nil
	}
	if err := s.cluster.FindKubectl(); err != nil {
		return command{}, err
	}
	run := func(ctx context.Context) []string {
		answer, err := s.cluster.Kubectl(ctx, s.files, verb, args...)
		if err != nil {
			return []string{err.Error()}
		}
		return answer
	}
	return command{question: verb == "get", run: run}, nil
}

// filteredCurl returns the command curl, with its answer filtered by the program behind the |.
func (s *shell) filteredCurl(args []string, program string, programArgs []string) (command, error) {
	curl, err := s.curl(args)
	if err != nil {
		return command{}, err
	}
	filter, err := filterParsers[program](programArgs)
	if err != nil {
		return command{}, err
	}
	run := func(ctx context.Context) []string { return filter(ctx, curl.run(ctx)) }
	return command{question: true, run: run}, nil
}

// curl returns the command that asks the step's web server. Its flags are -s, and -w with the variable
// %{http_code}.
func (s *shell) curl(args []string) (command, error) {
	flags := pflag.NewFlagSet("curl", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolP("silent", "s", false, "")
	write := flags.StringP("write-out", "w", "", "")
	if err := flags.Parse(args); err != nil {
		return command{}, err
	}
	path, isOwnServer := strings.CutPrefix(flags.Arg(0), "http://ADDRESS/")
	if flags.NArg() != 1 || !isOwnServer {
		return command{}, fmt.Errorf("curl asks the step's own server for one page: want http://ADDRESS/PATH, got %q",
			flags.Args())
	}
	run := func(ctx context.Context) []string {
		status, body, err := get(ctx, s.network, "http://"+s.address()+"/"+path)
		if err != nil {
			return []string{"curl: " + err.Error()}
		}
		body += strings.ReplaceAll(*write, "%{http_code}", fmt.Sprint(status))
		return strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	}
	return command{question: true, run: run}, nil
}

// get sends a request, and returns the status and the body of the response.
func get(ctx context.Context, network http.RoundTripper, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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

// wordPattern matches a word: characters that have no meaning for a shell, and texts in quotes.
const wordPattern = `(?:[^ '"\\$|&;<>*?()` + "`" + `]|'[^']*'|"[^"]*")+`

var (
	wordRE   = regexp.MustCompile(wordPattern)
	quotedRE = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
	// A line is words, and perhaps a | and more words.
	lineRE = regexp.MustCompile(`^((?: *` + wordPattern + `)+)(?: +(\|)((?: *` + wordPattern + `)*))? *$`)
)

// split splits a line into the words before a | and the words behind it.
func split(line string) (args, piped []string, err error) {
	parts := lineRE.FindStringSubmatch(line)
	switch {
	case parts == nil:
		return nil, nil, errors.New(
			"a quote is not closed, or a special character stands outside of quotes: there is no shell here")
	case parts[2] != "" && parts[3] == "":
		return nil, nil, errors.New("nothing stands behind the |")
	}
	return words(parts[1]), words(parts[3]), nil
}

// words splits a text into words at spaces, but not inside of quotes, and removes the quotes.
func words(text string) []string {
	all := wordRE.FindAllString(text, -1)
	for i, word := range all {
		all[i] = quotedRE.ReplaceAllString(word, "$1$2")
	}
	return all
}

// A filter changes the lines of an answer.
type filter func(ctx context.Context, lines []string) []string

// filterParsers parse the arguments of the programs that may stand behind a |, by program.
var filterParsers = map[string]func(args []string) (filter, error){"jq": parseJQ, "grep": parseGrep}

func parseGrep(args []string) (filter, error) {
	if len(args) != 2 || args[0] != "-E" {
		return nil, fmt.Errorf("want: grep -E PATTERN, got %q", args)
	}
	pattern, err := regexp.Compile(args[1])
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, lines []string) []string {
		return slices.DeleteFunc(lines, func(line string) bool { return !pattern.MatchString(line) })
	}, nil
}

// parseJQ returns the filter of "jq -c FILTER". (Unlike jq, it prints the keys of an object in
// alphabetical order.)
func parseJQ(args []string) (filter, error) {
	if len(args) != 2 || args[0] != "-c" {
		return nil, fmt.Errorf("want: jq -c FILTER, got %q", args)
	}
	query, err := gojq.Parse(args[1])
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, lines []string) []string {
		var value any
		if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &value); err != nil {
			return []string{"jq: error: " + err.Error()}
		}
		return runJQ(ctx, query, value)
	}, nil
}

// runJQ returns a line for each result of a query. An error of the query is the last line.
func runJQ(ctx context.Context, query *gojq.Query, value any) (lines []string) {
	results := query.RunWithContext(ctx, value)
	for {
		result, ok := results.Next()
		if !ok {
			return lines
		}
		if err, isError := result.(error); isError {
			return append(lines, "jq: error: "+err.Error())
		}
		text, _ := gojq.Marshal(result) // every result of a query can be marshaled
		lines = append(lines, string(text))
	}
}
