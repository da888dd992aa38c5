// What steps make on a cluster is marked. So it can be removed if a step could not do that itself: after
// kill -9, or a second Ctrl-C.

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

// The label of every namespace, and of every definition of a custom resource, that a step makes. (The
// files of definitions have it.)
const madeBy, course = "example.com/made-by", "informer-course"

// processKey is the annotation of a namespace that says which process has made it: HOST/PID.
const processKey = "example.com/process"

func thisProcess() string {
	host, _ := os.Hostname() // without a name all machines are one
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// mayRun is whether the process of an annotation may still run. Of another machine nobody knows.
func mayRun(process string) bool {
	host, number, _ := strings.Cut(process, "/")
	pid, err := strconv.Atoi(number)
	here, _ := os.Hostname()
	return host != here || err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// A Cleaner removes what steps have left behind on a cluster: their namespaces, and their definitions of
// custom resources with all objects of these types. Everything else stays.
type Cleaner struct {
	Options           // which cluster
	All     bool      // even what belongs to a step that may still run
	Out     io.Writer // takes a line for each thing that is removed, or kept

	course string // the value of the label; a test has one of its own
	client metadata.Interface
	types  discovery.DiscoveryInterface
}

// goneWithin is how long things may take to go. A pod on a real node has half a minute for that.
const goneWithin = 2 * time.Minute

// Clean returns when everything that it removes is gone.
func (c *Cleaner) Clean(ctx context.Context) error {
	s, err := connect(c.Options)
	if err != nil {
		return err
	}
	defer s.dialer.CloseAll()
	config := rest.CopyConfig(s.Config)
	config.Timeout = s.patience
	config.WarningHandler = rest.NoWarnings{} // that a type is old is no news for the user
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

// A leftover is to be removed.
type leftover struct {
	resource schema.GroupVersionResource
	name     string
}

func (c *Cleaner) clean(ctx context.Context) error {
	all, err := c.find(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Out, "there is nothing to remove")
		return nil
	}
	for _, one := range all {
		fmt.Fprintf(c.Out, "removing %s %s\n", strings.TrimSuffix(one.resource.Resource, "s"), one.name)
		err := c.client.Resource(one.resource).Delete(ctx, one.name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("removing %s: %w", one.name, err)
		}
	}
	var waitsFor error
	err = wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, goneWithin, true,
		func(ctx context.Context) (bool, error) {
			gone := true
			for _, one := range all {
				_, err := c.client.Resource(one.resource).Get(ctx, one.name, metav1.GetOptions{})
				if !apierrors.IsNotFound(err) {
					gone, waitsFor = false, errors.Join(err, c.removeFinalizers(ctx, one))
				}
			}
			return gone, nil
		})
	if err != nil {
		return fmt.Errorf("not everything is gone: %w: run this again, or see what kubectl describe says: %w",
			err, waitsFor)
	}
	return nil
}

// find lists the namespaces and definitions that have the label, without those that a step may still use.
func (c *Cleaner) find(ctx context.Context) (all []leftover, err error) {
	used := map[string]bool{}
	labelled := metav1.ListOptions{LabelSelector: madeBy + "=" + cmp.Or(c.course, course)}
	list, err := c.client.Resource(namespaces).List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	for _, found := range list.Items {
		if process := found.Annotations[processKey]; mayRun(process) && !c.All {
			used[found.Name] = true
			fmt.Fprintf(c.Out, "keeping namespace %s: process %s may still run; -all removes it\n", found.Name, process)
			continue
		}
		all = append(all, leftover{namespaces, found.Name})
	}
	if list, err = c.client.Resource(definitions).List(ctx, labelled); err != nil {
		return nil, fmt.Errorf("listing definitions of custom resources: %w", err)
	}
	for _, found := range list.Items {
		of := ofNamespace.FindStringSubmatch(found.Name)
		if of != nil && used[of[1]] || of == nil && len(used) > 0 {
			fmt.Fprintf(c.Out, "keeping customresourcedefinition %s: a step may use it\n", found.Name)
			continue
		}
		all = append(all, leftover{definitions, found.Name})
	}
	return all, nil
}

// ofNamespace finds the namespace in the name of a definition, such as widgets.NAMESPACE.example.com. One
// without is for all steps.
var ofNamespace = regexp.MustCompile(`\.([^.]+)\.example\.com$`)

// removeFinalizers takes the finalizers from objects that are being deleted, and that wait for a
// controller: those in a namespace, or all of a definition.
func (c *Cleaner) removeFinalizers(ctx context.Context, of leftover) error {
	// If there is an error, served is what it could find out.
	served, err := discovery.ServerPreferredNamespacedResources(c.types)
	resources, parsed := discovery.GroupVersionResources(discovery.FilteredBy(
		discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, served))
	err = errors.Join(err, parsed)
	for resource := range resources {
		namespace := of.name
		if of.resource == definitions {
			if namespace = ""; resource.GroupResource().String() != of.name {
				continue
			}
		}
		list, failed := c.client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		for _, object := range list.Items {
			if object.DeletionTimestamp == nil || len(object.Finalizers) == 0 {
				continue
			}
			_, failed := c.client.Resource(resource).Namespace(object.Namespace).Patch(ctx, object.Name,
				types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if failed != nil && !apierrors.IsNotFound(failed) {
				err = errors.Join(err, failed)
			}
		}
	}
	return err
}
