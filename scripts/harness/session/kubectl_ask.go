// kubectl get and wait: what only looks.

package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/jsonpath"
)

// commandTimeout is how long a command waits that has no --timeout. A kubelet
// may take its time.
const commandTimeout = 2 * time.Minute

func parseGet(l *kubectlLine, args []string) (Kubectl, error) {
	output := l.flags.StringP("output", "o", "", "")
	selector := l.flags.StringP("selector", "l", "", "")
	if err := l.parse(args, 1, 2, "TYPE [NAME] -o name|jsonpath=TEMPLATE"); err != nil {
		return Kubectl{}, err
	}
	template, withTemplate := strings.CutPrefix(*output, "jsonpath=")
	if !withTemplate && *output != "name" {
		return Kubectl{}, fmt.Errorf("transcripts get with -o name or -o jsonpath=TEMPLATE: got -o %q", *output)
	}
	printer := jsonpath.New("out")
	if err := printer.Parse(template); err != nil {
		return Kubectl{}, fmt.Errorf("error parsing jsonpath %s: %w", template, err)
	}
	resource, name, named := strings.Cut(strings.Join(l.args, "/"), "/")
	return Kubectl{Question: true, run: func(ctx context.Context, s *Session) ([]string, error) {
		client, gvr, err := s.resource(ctx, resource)
		if err != nil {
			return nil, err
		}
		var list *unstructured.UnstructuredList
		var content any // what a template sees
		if named {
			obj, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			list, content = &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*obj}}, obj.Object
		} else {
			if list, err = client.List(ctx, metav1.ListOptions{LabelSelector: *selector}); err != nil {
				return nil, err
			}
			content = list.UnstructuredContent()
		}
		if !withTemplate {
			return names(list, gvr.Group), nil
		}
		var text bytes.Buffer
		if err := printer.Execute(&text, content); err != nil {
			return nil, err
		}
		return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), nil
	}}, nil
}

// names are the lines of -o name.
func names(list *unstructured.UnstructuredList, group string) (lines []string) {
	for _, obj := range list.Items {
		kind := strings.ToLower(obj.GetKind())
		if group != "" {
			kind += "." + group
		}
		lines = append(lines, kind+"/"+obj.GetName())
	}
	return lines
}

func parseWait(l *kubectlLine, args []string) (Kubectl, error) {
	condition := l.flags.String("for", "", "")
	timeout := l.flags.Duration("timeout", commandTimeout, "")
	if err := l.parse(args, 1, 2, "TYPE NAME --for=delete|condition=NAME|jsonpath=TEMPLATE=VALUE"); err != nil {
		return Kubectl{}, err
	}
	resource, name, _, err := target(l.args)
	if err != nil {
		return Kubectl{}, err
	}
	met, err := parseCondition(*condition)
	if err != nil {
		return Kubectl{}, err
	}
	return doing(func(ctx context.Context, s *Session) error {
		client, gvr, err := s.resource(ctx, resource)
		if err != nil {
			return err
		}
		err = wait.PollUntilContextTimeout(ctx, poll, *timeout, true, func(ctx context.Context) (bool, error) {
			obj, err := client.Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) && *condition == "delete" {
				return true, nil
			}
			return err == nil && met(obj), err
		})
		return timedOut(ctx, err, gvr.Resource, name)
	}), nil
}

// parseCondition reads the value of --for.
func parseCondition(condition string) (met func(*unstructured.Unstructured) bool, err error) {
	kind, rest, _ := strings.Cut(condition, "=")
	switch kind {
	case "delete":
		return func(*unstructured.Unstructured) bool { return false }, nil
	case "condition":
		template := fmt.Sprintf(`{.status.conditions[?(@.type=="%s")].status}`, rest)
		return evaluates(template, "True")
	case "jsonpath":
		end := strings.LastIndex(rest, "}") + 1
		value, ok := strings.CutPrefix(rest[end:], "=")
		if !ok || end == 0 {
			return nil, errors.New("jsonpath wait has to have the form jsonpath='{.path}'=value")
		}
		return evaluates(rest[:end], value)
	default:
		return nil, fmt.Errorf("unrecognized condition: %q", condition)
	}
}

// evaluates is met by objects for which the template gives the value.
func evaluates(template, value string) (met func(*unstructured.Unstructured) bool, err error) {
	parsed := jsonpath.New("wait").AllowMissingKeys(true)
	if err := parsed.Parse(template); err != nil {
		return nil, err
	}
	return func(obj *unstructured.Unstructured) bool {
		var text bytes.Buffer
		return parsed.Execute(&text, obj.Object) == nil && text.String() == value
	}, nil
}

// timedOut makes of the end of a wait what kubectl makes of it.
func timedOut(ctx context.Context, err error, resource, name string) error {
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("timed out waiting for the condition on %s/%s", resource, name)
	}
	return err
}
