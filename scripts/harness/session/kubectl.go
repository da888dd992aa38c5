// The kubectl commands that transcripts use, done with kubectl's meaning.

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// servingTimeout is how long to wait until the server serves a new type.
const servingTimeout = 30 * time.Second

// A Kubectl is a kubectl command that is ready to run.
type Kubectl struct {
	Question bool // it changes nothing, and has an answer
	run      func(ctx context.Context, s *Session) (answer []string, err error)
}

// Run does what the command says, in the session's namespace. It waits where
// kubectl would wait.
func (k Kubectl) Run(ctx context.Context, s *Session) (answer []string, err error) {
	return k.run(ctx, s)
}

// doing makes a command of a function that gives no answer.
func doing(do func(ctx context.Context, s *Session) error) Kubectl {
	return Kubectl{run: func(ctx context.Context, s *Session) ([]string, error) { return nil, do(ctx, s) }}
}

// A kubectlLine is a command line on its way to become a command.
type kubectlLine struct {
	verb  string
	args  []string // those that are no flags
	files fs.FS    // where the files of -f are
	flags *pflag.FlagSet
}

// kubectlVerbs are the kubectl verbs that a transcript may use. The function of a
// verb reads its command line: it declares the flags, parses them, and returns what
// is to be done.
var kubectlVerbs = map[string]func(*kubectlLine, []string) (Kubectl, error){
	"create":                parseCreate,
	"create configmap":      parseCreateConfigMap,
	"create deployment":     parseCreateDeployment,
	"create role":           parseCreateRole,
	"create rolebinding":    parseCreateRoleBinding,
	"create serviceaccount": parseCreateServiceAccount,
	"delete":                parseDelete,
	"expose":                parseExpose,
	"get":                   parseGet,
	"label":                 parseLabel,
	"patch":                 parsePatch,
	"run":                   parseRun,
	"wait":                  parseWait,
}

// ParseKubectl reads the arguments of a kubectl command line. It refuses what
// kubectl would refuse, and what no transcript has needed yet. Files that the
// command names are those in files, below testdata; the word NAMESPACE in them
// stands for the session's namespace, so that they can name what is unique in
// the whole cluster.
func ParseKubectl(args []string, files fs.FS) (Kubectl, error) {
	if len(args) == 0 {
		return Kubectl{}, errors.New("a verb is missing")
	}
	verb, rest := args[0], args[1:]
	if len(rest) > 0 && kubectlVerbs[verb+" "+rest[0]] != nil {
		verb, rest = verb+" "+rest[0], rest[1:]
	}
	parse := kubectlVerbs[verb]
	if parse == nil {
		return Kubectl{}, fmt.Errorf("unknown command %q; there is: %s", verb,
			strings.Join(slices.Sorted(maps.Keys(kubectlVerbs)), ", "))
	}
	line := &kubectlLine{verb: verb, files: files, flags: pflag.NewFlagSet(verb, pflag.ContinueOnError)}
	line.flags.SetOutput(io.Discard)
	return parse(line, rest)
}

// parse parses the flags, and sees that there are enough arguments besides
// them, and not too many. A most of -1 is no limit.
func (l *kubectlLine) parse(args []string, least, most int, usage string) error {
	if err := l.flags.Parse(args); err != nil {
		return err
	}
	l.args = l.flags.Args()
	if len(l.args) < least || most >= 0 && len(l.args) > most {
		return fmt.Errorf("want: kubectl %s %s", l.verb, usage)
	}
	return nil
}

// target splits the arguments "TYPE NAME more" and "TYPE/NAME more".
func target(args []string) (resource, name string, more []string, err error) {
	if resource, name, ok := strings.Cut(args[0], "/"); ok {
		return resource, name, args[1:], nil
	}
	if len(args) < 2 {
		return "", "", nil, fmt.Errorf("the name of the %s is missing", args[0])
	}
	return args[0], args[1], args[2:], nil
}

// resource returns a client for a type of objects by the name that a user gives
// it: pods, pod, po, deployments.apps.
func (s *Session) resource(ctx context.Context, name string) (
	dynamic.ResourceInterface, schema.GroupVersionResource, error,
) {
	partial := schema.ParseGroupResource(name).WithVersion("")
	var gvr schema.GroupVersionResource
	err := s.lookUp(ctx, func() (err error) {
		gvr, err = s.mapper.ResourceFor(partial)
		return err
	})
	if err != nil {
		return nil, gvr, fmt.Errorf("the server doesn't have a resource type %q: %w", name, err)
	}
	client, err := s.client(gvr)
	return client, gvr, err
}

// lookUp looks for a type of objects. If the server does not have it, its list
// of types is read again: at once, and for as long as servingTimeout if this
// session has made something like a CustomResourceDefinition, since the server
// takes a moment to serve what that defines.
func (s *Session) lookUp(ctx context.Context, find func() error) error {
	s.mu.Lock()
	limit := time.Duration(0)
	if len(s.wide) > 0 {
		limit = servingTimeout
	}
	s.mu.Unlock()
	err := find()
	if !meta.IsNoMatchError(err) {
		return err
	}
	_ = wait.PollUntilContextTimeout(ctx, poll, limit, true, func(context.Context) (bool, error) {
		meta.MaybeResetRESTMapper(s.mapper)
		err = find()
		return !meta.IsNoMatchError(err), nil
	})
	return err
}

// client returns a client for a resource, in the session's namespace if the
// resource has namespaces.
func (s *Session) client(gvr schema.GroupVersionResource) (dynamic.ResourceInterface, error) {
	kind, err := s.mapper.KindFor(gvr)
	if err != nil {
		return nil, err
	}
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return s.dynamic.Resource(gvr), nil
	}
	return s.dynamic.Resource(gvr).Namespace(s.Namespace), nil
}

// KubectlError is what kubectl prints of an error.
func KubectlError(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if reason := apierrors.ReasonForError(err); reason != "" {
		return fmt.Sprintf("Error from server (%s): %s", reason, text)
	}
	return "error: " + text
}
