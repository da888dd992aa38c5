// The service account of the informers under test: its token and its rights.

package testenv

import (
	"context"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// account is the name of the service account, its role and its role binding;
// accountNamespace is where it lives.
const account, accountNamespace = "informer", "faults-system"

func (e *Environment) createAccount(ctx context.Context) error {
	if err := e.CreateNamespace(ctx, accountNamespace); err != nil {
		return err
	}
	_, err := e.Client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: Resources, Verbs: []string{"list", "watch"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := e.NewToken(ctx); err != nil {
		return err
	}
	if err := e.Grant(ctx); err != nil {
		return err
	}
	return e.until(ctx, "the account may list", func(err error) bool { return err == nil })
}

// NewToken creates the account and writes a token for it to the file. It is valid
// until ExpireToken.
func (e *Environment) NewToken(ctx context.Context) error {
	accounts := e.Client.CoreV1().ServiceAccounts(accountNamespace)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	request, err := accounts.CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	file := e.path("token")
	if err := os.WriteFile(file+".new", []byte(request.Status.Token), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// ExpireToken deletes the account, and its token with it, and returns when the
// server refuses the token. That can take ten seconds, because the server caches
// its answers for that long.
func (e *Environment) ExpireToken(ctx context.Context) error {
	accounts := e.Client.CoreV1().ServiceAccounts(accountNamespace)
	if err := accounts.Delete(ctx, account, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return e.until(ctx, "the token is refused", apierrors.IsUnauthorized)
}

// Grant gives the account its rights.
func (e *Environment) Grant(ctx context.Context) error {
	_, err := e.Client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: accountNamespace, Name: account}},
	}, metav1.CreateOptions{})
	return err
}

// Revoke takes the account's rights away, and returns when the server knows.
func (e *Environment) Revoke(ctx context.Context) error {
	if err := e.Client.RbacV1().ClusterRoleBindings().Delete(ctx, account, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return e.until(ctx, "the account may not list", apierrors.IsForbidden)
}

// until asks for a list as the account, until the outcome is as expected.
func (e *Environment) until(ctx context.Context, what string, expected func(error) bool) error {
	client, disconnect, err := Connect(e.Config())
	if err != nil {
		return err
	}
	defer disconnect()
	var last error
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, last = client.CoreV1().Pods(accountNamespace).List(ctx, metav1.ListOptions{Limit: 1})
			return expected(last), nil
		})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w; the last answer: %v", what, err, last)
	}
	return nil
}
