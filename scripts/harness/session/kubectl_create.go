// kubectl run, expose and create: what makes objects out of words.

package session

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// created are the options of whatever "kubectl create" makes.
var created = metav1.CreateOptions{FieldManager: "kubectl-create"}

func parseRun(l *kubectlLine, args []string) (Kubectl, error) {
	image := l.flags.String("image", "", "")
	given := l.flags.StringP("labels", "l", "", "")
	if err := l.parse(args, 1, 1, "NAME --image=IMAGE"); err != nil {
		return Kubectl{}, err
	}
	name := l.args[0]
	if *image == "" {
		return Kubectl{}, errors.New("--image is required")
	}
	set := labels.Set{"run": name}
	if *given != "" {
		var err error
		if set, err = labels.ConvertSelectorToLabelsMap(*given); err != nil {
			return Kubectl{}, err
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set},
		Spec: corev1.PodSpec{
			Containers:    []corev1.Container{{Name: name, Image: *image}},
			RestartPolicy: corev1.RestartPolicyAlways,
			DNSPolicy:     corev1.DNSClusterFirst,
		},
	}
	return doing(func(ctx context.Context, s *Session) error {
		options := metav1.CreateOptions{FieldManager: "kubectl-run"}
		_, err := s.Client.CoreV1().Pods(s.Namespace).Create(ctx, pod, options)
		return err
	}), nil
}

func parseCreateConfigMap(l *kubectlLine, args []string) (Kubectl, error) {
	literals := l.flags.StringArray("from-literal", nil, "")
	if err := l.parse(args, 1, 1, "NAME [--from-literal=KEY=VALUE]"); err != nil {
		return Kubectl{}, err
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: l.args[0]}}
	for _, literal := range *literals {
		key, value, ok := strings.Cut(literal, "=")
		if !ok || key == "" {
			return Kubectl{}, fmt.Errorf("invalid literal source %s, expected key=value", literal)
		}
		if configMap.Data == nil {
			configMap.Data = map[string]string{}
		}
		configMap.Data[key] = value
	}
	return doing(func(ctx context.Context, s *Session) error {
		_, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Create(ctx, configMap, created)
		return err
	}), nil
}

func parseCreateServiceAccount(l *kubectlLine, args []string) (Kubectl, error) {
	if err := l.parse(args, 1, 1, "NAME"); err != nil {
		return Kubectl{}, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: l.args[0]}}
	return doing(func(ctx context.Context, s *Session) error {
		_, err := s.Client.CoreV1().ServiceAccounts(s.Namespace).Create(ctx, account, created)
		return err
	}), nil
}

func parseCreateRole(l *kubectlLine, args []string) (Kubectl, error) {
	verbs := l.flags.StringSlice("verb", nil, "")
	resource := l.flags.String("resource", "", "")
	if err := l.parse(args, 1, 1, "NAME --verb=VERB --resource=RESOURCE"); err != nil {
		return Kubectl{}, err
	}
	if len(*verbs) == 0 || *resource == "" {
		return Kubectl{}, errors.New("at least one verb and one resource must be specified")
	}
	return doing(func(ctx context.Context, s *Session) error {
		_, gvr, err := s.resource(ctx, *resource)
		if err != nil {
			return err
		}
		role := &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: l.args[0]},
			Rules: []rbacv1.PolicyRule{
				{Verbs: *verbs, APIGroups: []string{gvr.Group}, Resources: []string{gvr.Resource}},
			},
		}
		_, err = s.Client.RbacV1().Roles(s.Namespace).Create(ctx, role, created)
		return err
	}), nil
}

func parseCreateRoleBinding(l *kubectlLine, args []string) (Kubectl, error) {
	role := l.flags.String("role", "", "")
	account := l.flags.String("serviceaccount", "", "")
	if err := l.parse(args, 1, 1, "NAME --role=ROLE --serviceaccount=NAMESPACE:NAME"); err != nil {
		return Kubectl{}, err
	}
	namespace, name, ok := strings.Cut(*account, ":")
	if *role == "" || !ok {
		return Kubectl{}, errors.New("--role and --serviceaccount=NAMESPACE:NAME are required")
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: l.args[0]},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: *role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}
	return doing(func(ctx context.Context, s *Session) error {
		_, err := s.Client.RbacV1().RoleBindings(s.Namespace).Create(ctx, binding, created)
		return err
	}), nil
}

func parseCreateDeployment(l *kubectlLine, args []string) (Kubectl, error) {
	image := l.flags.String("image", "", "")
	replicas := l.flags.Int32P("replicas", "r", 1, "")
	if err := l.parse(args, 1, 1, "NAME --image=IMAGE [--replicas=N]"); err != nil {
		return Kubectl{}, err
	}
	if *image == "" {
		return Kubectl{}, errors.New(`required flag(s) "image" not set`)
	}
	name, set := l.args[0], map[string]string{"app": l.args[0]}
	container, _, _ := strings.Cut(path.Base(*image), ":") // it is called like its image
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set},
		Spec: appsv1.DeploymentSpec{
			Replicas: replicas,
			Selector: &metav1.LabelSelector{MatchLabels: set},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: set},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: *image}}},
			},
		},
	}
	return doing(func(ctx context.Context, s *Session) error {
		_, err := s.Client.AppsV1().Deployments(s.Namespace).Create(ctx, deployment, created)
		return err
	}), nil
}

func parseExpose(l *kubectlLine, args []string) (Kubectl, error) {
	port := l.flags.Int32("port", 0, "")
	if err := l.parse(args, 1, 2, "deployment NAME --port=PORT"); err != nil {
		return Kubectl{}, err
	}
	resource, name, _, err := target(l.args)
	if err != nil {
		return Kubectl{}, err
	}
	if resource != "deployment" || *port == 0 {
		return Kubectl{}, errors.New("want a deployment and a --port")
	}
	return doing(func(ctx context.Context, s *Session) error {
		deployment, err := s.Client.AppsV1().Deployments(s.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: deployment.Labels},
			Spec: corev1.ServiceSpec{
				Selector: deployment.Spec.Selector.MatchLabels,
				Ports: []corev1.ServicePort{
					{Protocol: corev1.ProtocolTCP, Port: *port, TargetPort: intstr.FromInt32(*port)},
				},
			},
		}
		_, err = s.Client.CoreV1().Services(s.Namespace).
			Create(ctx, service, metav1.CreateOptions{FieldManager: "kubectl-expose"})
		return err
	}), nil
}
