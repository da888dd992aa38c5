// kubectl create -f: what makes objects out of a file.

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

func parseCreate(l *kubectlLine, args []string) (Kubectl, error) {
	file, err := l.readFile(args)
	if err != nil {
		return Kubectl{}, err
	}
	return doing(func(ctx context.Context, s *Session) error { return s.create(ctx, file) }), nil
}

// A manifest is the text of a file with objects in it.
type manifest string

// readFile reads the file that the flag -f names, and sees that there are
// objects in it.
func (l *kubectlLine) readFile(args []string) (manifest, error) {
	name := l.flags.StringP("filename", "f", "", "")
	if err := l.parse(args, 0, 0, "-f FILE"); err != nil {
		return "", err
	}
	if *name == "" {
		return "", errors.New("must specify -f FILE")
	}
	text, err := fs.ReadFile(l.files, path.Join("testdata", *name))
	if err != nil {
		return "", fmt.Errorf("the path %q does not exist: %w", *name, err)
	}
	if _, err := manifest(text).objects("namespace"); err != nil {
		return "", fmt.Errorf("%s: %w", *name, err)
	}
	return manifest(text), nil
}

// objects are those in the file, with the namespace put in where the file says
// NAMESPACE.
func (m manifest) objects(namespace string) (objects []*unstructured.Unstructured, err error) {
	text := strings.ReplaceAll(string(m), "NAMESPACE", namespace)
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		obj := &unstructured.Unstructured{}
		switch err := decoder.Decode(obj); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		}
		objects = append(objects, obj)
	}
}

// create makes the objects of a file. Those that are in no namespace are noted,
// to be removed with the session.
func (s *Session) create(ctx context.Context, m manifest) error {
	objects, err := m.objects(s.Namespace)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		client, resource, wide, err := s.clientFor(ctx, obj)
		if err != nil {
			return err
		}
		if _, err := client.Create(ctx, obj, created); err != nil {
			return err
		}
		if wide {
			s.mu.Lock()
			s.wide = append(s.wide, wideObject{resource, obj.GetName()})
			s.mu.Unlock()
		}
	}
	return nil
}

// clientFor returns a client for objects like this one, and whether they are in
// no namespace.
func (s *Session) clientFor(ctx context.Context, obj *unstructured.Unstructured) (
	client dynamic.ResourceInterface, resource schema.GroupVersionResource, wide bool, err error,
) {
	kind := obj.GroupVersionKind()
	var mapping *meta.RESTMapping
	err = s.lookUp(ctx, func() (err error) {
		mapping, err = s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return err
	})
	if err != nil {
		return nil, resource, false, err
	}
	client, err = s.client(mapping.Resource)
	return client, mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameRoot, err
}
