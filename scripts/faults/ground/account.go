// The account of the informers under test: its token and its rights.

package ground

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

// account is the name of the service account, and of what gives it its rights;
// home is where it lives.
const account, home = "informer", "faults-system"

func (g *Ground) openAccount(ctx context.Context) error {
	if err := g.Namespace(ctx, home); err != nil {
		return err
	}
	_, err := g.Client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: Resources, Verbs: []string{"list", "watch"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := g.NewToken(ctx); err != nil {
		return err
	}
	if err := g.Grant(ctx); err != nil {
		return err
	}
	return g.until(ctx, "the account may list", func(err error) bool { return err == nil })
}

// NewToken makes the account and puts a token into its file. It is good until
// Expire.
func (g *Ground) NewToken(ctx context.Context) error {
	accounts := g.Client.CoreV1().ServiceAccounts(home)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	request, err := accounts.CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	file := g.path("token")
	if err := os.WriteFile(file+".new", []byte(request.Status.Token), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Expire ends the token that is in the file, which lives and dies with its
// account, and returns when the server no longer takes it: that can be ten
// seconds later, since the server remembers for so long whom it let in.
func (g *Ground) Expire(ctx context.Context) error {
	if err := g.Client.CoreV1().ServiceAccounts(home).Delete(ctx, account, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return g.until(ctx, "the token is refused", apierrors.IsUnauthorized)
}

// Grant gives the account its rights.
func (g *Ground) Grant(ctx context.Context) error {
	_, err := g.Client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: account}},
	}, metav1.CreateOptions{})
	return err
}

// Revoke takes the account's rights away, and returns when the server knows.
func (g *Ground) Revoke(ctx context.Context) error {
	if err := g.Client.RbacV1().ClusterRoleBindings().Delete(ctx, account, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return g.until(ctx, "the account may not list", apierrors.IsForbidden)
}

// until asks for a list as the account, until what comes of it is right.
func (g *Ground) until(ctx context.Context, what string, right func(error) bool) error {
	client, disconnect, err := Connect(g.Config())
	if err != nil {
		return err
	}
	defer disconnect()
	var last error
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, last = client.CoreV1().Pods(home).List(ctx, metav1.ListOptions{Limit: 1})
			return right(last), nil
		})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w; the last answer: %v", what, err, last)
	}
	return nil
}
