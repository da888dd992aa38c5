package main

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/08-factory/factory"
)

// listers asks five types of objects how a Deployment is doing.
func listers(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	f := factory.New(counted.Clientset, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	deployments := f.Deployments().Lister()
	f.ReplicaSets() // asked for now, so that they are started; what they know is asked below
	f.Pods()
	f.Services()
	f.Nodes()
	if err := start(ctx, f); err != nil {
		return err
	}
	asked.Reset()
	if err := deploy(ctx, s); err != nil {
		return err
	}
	if err := flow.Until(ctx, "both replicas are ready", func() bool {
		web, err := deployments.Deployments(s.Namespace).Get("web")
		return err == nil && web.Status.ReadyReplicas == 2
	}); err != nil {
		return err
	}
	if err := answers(s, f); err != nil {
		return err
	}
	s.Printf("requests for all these answers : %s\n", &asked)
	return nil
}

// answers has no context: there is nothing to wait for.
func answers(s *kube.Session, f *factory.Factory) error {
	ofWeb, ofOthers := labels.SelectorFromSet(labels.Set{"app": "web"}), labels.SelectorFromSet(labels.Set{"app": "db"})
	pods, deployments := f.Pods().Lister(), f.Deployments().Lister()
	owned, err := f.ReplicaSets().Lister().ReplicaSets(s.Namespace).List(ofWeb)
	if err != nil {
		return err
	}
	running, err := pods.List(ofWeb)
	if err != nil {
		return err
	}
	node, err := f.Nodes().Lister().Get(running[0].Spec.NodeName)
	if err != nil {
		return err
	}
	_, notFound := deployments.Deployments(s.Namespace).Get("shop")
	s.Printf("deployments : %s\n", names(deployments.List(labels.Everything())))
	s.Printf("deployment shop : %v\n", notFound)
	s.Printf("replica sets with app=web : %d, owned by %s\n", len(owned), owned[0].OwnerReferences[0].Name)
	s.Printf("pods with app=web : %d, on a node with %s\n", len(running), node.Status.NodeInfo.OperatingSystem)
	s.Printf("pods with app=db : [%s]\n", names(pods.List(ofOthers)))
	s.Printf("pods of kube-system : [%s]\n", names(pods.Pods("kube-system").List(labels.Everything())))
	s.Printf("services : %s\n", names(f.Services().Lister().List(labels.Everything())))
	return nil
}

// deploy makes a Deployment of two pods, and a Service in front of it.
func deploy(ctx context.Context, s *kube.Session) error {
	s.Printf("# kubectl create deployment web --image=%s --replicas=2\n# kubectl expose deployment web --port=80\n",
		kube.PauseImage)
	app, replicas := map[string]string{"app": "web"}, int32(2)
	_, err := s.Clientset.AppsV1().Deployments(s.Namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: kube.PauseImage}}},
			},
		},
	}, metav1.CreateOptions{})
	_, exposed := s.Clientset.CoreV1().Services(s.Namespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: app, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	return errors.Join(err, exposed)
}
