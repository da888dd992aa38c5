package main

import (
	"context"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// denied lists as a service account that may not. The reflector does not give
// up: it tells the error handler, waits a little longer each time, and goes on
// by itself once the right is granted.
func denied(ctx context.Context, s *kube.Session) error {
	reader, err := asReader(ctx, s)
	if err != nil {
		return err
	}
	defer reader.Cluster.Close()
	if _, err := s.CreateConfigMap(ctx, "one"); err != nil {
		return err
	}
	var once sync.Once // it sees the same error at every try
	_, queue := newQueue()
	controller := cache.New(&cache.Config{ // a reflector and a loop that drains its queue
		Queue:         queue,
		ListerWatcher: reader.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Process: func(obj any, _ bool) error {
			return flow.ForEach(obj.(cache.Deltas), func(d cache.Delta) error { return showConfigMap(s, d, "") })
		},
		WatchErrorHandlerWithContext: func(_ context.Context, _ *cache.Reflector, err error) {
			once.Do(func() { s.Printf("the watch error handler sees: %s\n", apierrors.ReasonForError(err)) })
		},
	})
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); controller.RunWithContext(ctx) }()
	defer func() { cancel(); <-ended }()

	if err := s.WaitPrinted(ctx, "Forbidden"); err != nil {
		return err
	}
	if err := grant(ctx, s); err != nil {
		return err
	}
	return s.WaitPrinted(ctx, "Sync : one")
}

// asReader returns the session in the name of a service account without rights.
func asReader(ctx context.Context, s *kube.Session) (*kube.Session, error) {
	s.Printf("# kubectl create serviceaccount reader\n")
	accounts := s.Clientset.CoreV1().ServiceAccounts(s.Namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	token, err := accounts.CreateToken(ctx, "reader", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return s.With(func(c *rest.Config) {
		*c = *rest.AnonymousClientConfig(c)
		c.BearerToken = token.Status.Token
	})
}

// grant gives the service account the right to read ConfigMaps.
func grant(ctx context.Context, s *kube.Session) error {
	s.Printf("# kubectl create role reader --verb=list,watch --resource=configmaps\n" +
		"# kubectl create rolebinding reader --role=reader --serviceaccount=NAMESPACE:reader\n")
	meta := metav1.ObjectMeta{Name: "reader"}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"list", "watch"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
	}}
	if _, err := s.Clientset.RbacV1().Roles(s.Namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "reader", Namespace: s.Namespace}},
	}
	_, err := s.Clientset.RbacV1().RoleBindings(s.Namespace).Create(ctx, binding, metav1.CreateOptions{})
	return err
}
