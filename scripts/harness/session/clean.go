// Removing what steps have left on a cluster. A step that is ended by kill -9, or by a second
// Ctrl-C, does not clean up. All namespaces and definitions of steps have a label, so that they can
// be found.

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// The label of each namespace, and of each CustomResourceDefinition, that a step makes. (The YAML
// files of the definitions have it.)
const (
	madeBy = "example.com/made-by"
	course = "informer-course"
)

// processKey is the annotation of a namespace with the process that has made it: HOST/PID.
const processKey = "example.com/process"

// thisProcess returns the value of the annotation for this process.
func thisProcess() string {
	host, _ := os.Hostname() // machines without a name count as the same machine
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// mayRun reports whether the process of an annotation may still run. It returns true for a process
// of another machine.
func mayRun(process string) bool {
	host, number, _ := strings.Cut(process, "/")
	if thisHost, _ := os.Hostname(); host != thisHost {
		return true
	}
	pid, err := strconv.Atoi(number)
	if err != nil {
		return true
	}
	hasEnded := errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	return !hasEnded
}

// A Cleaner removes what steps have left on a cluster: their namespaces, and their
// CustomResourceDefinitions with all objects of these types. Everything else stays.
type Cleaner struct {
	Options           // which cluster
	All     bool      // remove even what belongs to a step that may still run
	Out     io.Writer // takes a line for each namespace or definition that is removed or kept

	course string // the value of the label; default: that of the steps
	client metadata.Interface
	types  discovery.DiscoveryInterface
}

// goneWithin is how long a deletion may take. A pod on a real node may take half a minute to end.
const goneWithin = 2 * time.Minute

// Clean deletes the leftovers, and returns when they are gone.
func (c *Cleaner) Clean(ctx context.Context) error {
	s, err := connect(c.Options)
	if err != nil {
		return err
	}
	defer s.dialer.CloseAll()
	config := rest.CopyConfig(s.Config)
	config.Timeout = s.patience
	config.WarningHandler = rest.NoWarnings{} // warnings about deprecated types are of no use here
	if c.types, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return err
	}
	if c.client, err = metadata.NewForConfig(config); err != nil {
		return err
	}
	return s.Explain(c.clean(ctx))
}

var (
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	definitions = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// A leftover is a namespace or a definition to delete.
type leftover struct {
	resource schema.GroupVersionResource
	name     string
}

// clean is Clean, once the clients are made.
func (c *Cleaner) clean(ctx context.Context) error {
	leftovers, err := c.find(ctx)
	if err != nil {
		return err
	}
	if len(leftovers) == 0 {
		fmt.Fprintln(c.Out, "there is nothing to remove")
		return nil
	}
	for _, l := range leftovers {
		fmt.Fprintf(c.Out, "removing %s %s\n", strings.TrimSuffix(l.resource.Resource, "s"), l.name)
		err := c.client.Resource(l.resource).Delete(ctx, l.name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("removing %s: %w", l.name, err)
		}
	}
	return c.awaitDeletion(ctx, leftovers)
}

// awaitDeletion waits until leftovers are gone. It removes the finalizers of their objects.
func (c *Cleaner) awaitDeletion(ctx context.Context, leftovers []leftover) error {
	var lastErr error // of the last look at a leftover that is not gone
	poll := func(ctx context.Context) (bool, error) {
		gone := true
		for _, l := range leftovers {
			_, err := c.client.Resource(l.resource).Get(ctx, l.name, metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				gone = false
				lastErr = errors.Join(err, c.removeFinalizers(ctx, l))
			}
		}
		return gone, nil
	}
	err := wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, goneWithin, true, poll)
	if err != nil {
		return fmt.Errorf("not everything is gone: %w: run this again, or see what kubectl describe says: %w",
			err, lastErr)
	}
	return nil
}

// find lists the namespaces and definitions with the label, without those that a step may still
// use.
func (c *Cleaner) find(ctx context.Context) (leftovers []leftover, err error) {
	labelled := metav1.ListOptions{LabelSelector: madeBy + "=" + cmp.Or(c.course, course)}
	namespaceList, err := c.client.Resource(namespaces).List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	inUse := map[string]bool{} // namespaces
	for _, found := range namespaceList.Items {
		if process := found.Annotations[processKey]; mayRun(process) && !c.All {
			inUse[found.Name] = true
			fmt.Fprintf(c.Out, "keeping namespace %s: process %s may still run; -all removes it\n", found.Name, process)
			continue
		}
		leftovers = append(leftovers, leftover{resource: namespaces, name: found.Name})
	}
	definitionList, err := c.client.Resource(definitions).List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("listing definitions of custom resources: %w", err)
	}
	for _, found := range definitionList.Items {
		if mayBeUsed(found.Name, inUse) {
			fmt.Fprintf(c.Out, "keeping customresourcedefinition %s: a step may use it\n", found.Name)
			continue
		}
		leftovers = append(leftovers, leftover{resource: definitions, name: found.Name})
	}
	return leftovers, nil
}

// mayBeUsed reports whether a step in one of these namespaces may use a definition.
func mayBeUsed(definition string, namespaces map[string]bool) bool {
	match := namespaceOfDefinition.FindStringSubmatch(definition)
	if match == nil {
		return len(namespaces) > 0 // all steps may use it
	}
	return namespaces[match[1]]
}

// namespaceOfDefinition matches the namespace in the name of a definition, such as
// widgets.NAMESPACE.example.com. All steps may use a definition without a namespace in its name.
var namespaceOfDefinition = regexp.MustCompile(`\.([^.]+)\.example\.com$`)

// removeFinalizers removes the finalizers of objects that are being deleted, because no controller
// will remove them. The objects are those in a namespace, or all objects of a definition.
func (c *Cleaner) removeFinalizers(ctx context.Context, l leftover) error {
	// On an error, served has the types of the API groups that could be asked.
	served, err := discovery.ServerPreferredNamespacedResources(c.types)
	filtered := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, served)
	resources, parseErr := discovery.GroupVersionResources(filtered)
	err = errors.Join(err, parseErr)
	for resource := range resources {
		switch {
		case l.resource == namespaces:
			err = errors.Join(err, c.removeFinalizersOf(ctx, resource, l.name))
		case resource.GroupResource().String() == l.name:
			err = errors.Join(err, c.removeFinalizersOf(ctx, resource, metav1.NamespaceAll))
		}
	}
	return err
}

// removeFinalizersOf removes the finalizers of the objects of one type that are being deleted.
func (c *Cleaner) removeFinalizersOf(
	ctx context.Context, resource schema.GroupVersionResource, namespace string,
) (err error) {
	list, err := c.client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, object := range list.Items {
		if object.DeletionTimestamp == nil || len(object.Finalizers) == 0 {
			continue
		}
		_, patchErr := c.client.Resource(resource).Namespace(object.Namespace).Patch(ctx, object.Name,
			types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if !apierrors.IsNotFound(patchErr) {
			err = errors.Join(err, patchErr)
		}
	}
	return err
}
