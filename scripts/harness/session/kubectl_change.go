// kubectl label, patch and delete: what changes objects.

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// poll is how often a command that waits looks again.
const poll = 50 * time.Millisecond

func parseLabel(l *kubectlLine, args []string) (Kubectl, error) {
	overwrite := l.flags.Bool("overwrite", false, "")
	if err := l.parse(args, 2, -1, "TYPE NAME KEY=VALUE"); err != nil {
		return Kubectl{}, err
	}
	resource, name, pairs, err := target(l.args)
	if err != nil {
		return Kubectl{}, err
	}
	if len(pairs) == 0 {
		return Kubectl{}, errors.New("at least one label update is required")
	}
	changes := map[string]any{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		switch gone, remove := strings.CutSuffix(pair, "-"); {
		case ok:
			changes[key] = value
		case remove:
			changes[gone] = nil
		default:
			return Kubectl{}, fmt.Errorf("unknown label spec %q: want KEY=VALUE, or KEY- to remove it", pair)
		}
	}
	return doing(func(ctx context.Context, s *Session) error {
		client, _, err := s.resource(ctx, resource)
		if err != nil {
			return err
		}
		obj, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for key, value := range changes {
			if old, ok := obj.GetLabels()[key]; ok && value != nil && old != value && !*overwrite {
				return fmt.Errorf("'%s' already has a value (%s), and --overwrite is false", key, old)
			}
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": changes}})
		if err != nil {
			return err
		}
		options := metav1.PatchOptions{FieldManager: "kubectl-label"}
		_, err = client.Patch(ctx, name, types.MergePatchType, patch, options)
		return err
	}), nil
}

// patchTypes are the values of the flag --type.
var patchTypes = map[string]types.PatchType{
	"strategic": types.StrategicMergePatchType,
	"merge":     types.MergePatchType,
	"json":      types.JSONPatchType,
}

func parsePatch(l *kubectlLine, args []string) (Kubectl, error) {
	patch := l.flags.StringP("patch", "p", "", "")
	how := l.flags.String("type", "strategic", "")
	if err := l.parse(args, 1, 2, "TYPE NAME --patch JSON"); err != nil {
		return Kubectl{}, err
	}
	resource, name, _, err := target(l.args)
	if err != nil {
		return Kubectl{}, err
	}
	patchType, ok := patchTypes[*how]
	switch {
	case !ok:
		return Kubectl{}, fmt.Errorf("--type must be one of [json merge strategic], not %q", *how)
	case !json.Valid([]byte(*patch)):
		return Kubectl{}, fmt.Errorf("unable to parse %q: it is no JSON", *patch)
	}
	return doing(func(ctx context.Context, s *Session) error {
		client, _, err := s.resource(ctx, resource)
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, name, patchType, []byte(*patch), metav1.PatchOptions{FieldManager: "kubectl-patch"})
		return err
	}), nil
}

func parseDelete(l *kubectlLine, args []string) (Kubectl, error) {
	waits := l.flags.Bool("wait", true, "")
	if err := l.parse(args, 1, 2, "TYPE NAME [--wait=false]"); err != nil {
		return Kubectl{}, err
	}
	resource, name, _, err := target(l.args)
	if err != nil {
		return Kubectl{}, err
	}
	return doing(func(ctx context.Context, s *Session) error {
		client, gvr, err := s.resource(ctx, resource)
		if err != nil {
			return err
		}
		obj, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := client.Delete(ctx, name, metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		}); err != nil || !*waits {
			return err
		}
		return untilGone(ctx, client, name, obj.GetUID(), gvr.Resource)
	}), nil
}

// untilGone waits until an object is gone. Another one of the same name does
// not count.
func untilGone(ctx context.Context, client dynamic.ResourceInterface, name string, uid types.UID,
	resource string) error {
	err := wait.PollUntilContextTimeout(ctx, poll, commandTimeout, true, func(ctx context.Context) (bool, error) {
		obj, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && obj.GetUID() != uid, err
	})
	return timedOut(ctx, err, resource, name)
}
