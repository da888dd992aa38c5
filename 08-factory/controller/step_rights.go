package main

import (
	"context"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/step"
)

// stepRights runs client-go's informer as a service account, and prints its log. The transcript
// grants rights to the account, and takes them away.
func stepRights(ctx context.Context, env *step.Env) error {
	config := rest.CopyConfig(env.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + env.Namespace + ":default"}
	connections := connrotation.NewDialer(new(net.Dialer).DialContext)
	defer connections.CloseAll()
	config.Dial = connections.DialContext
	env.On("the connections break", connections.CloseAll)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	configMaps := cache.NewSharedIndexInformerWithOptions(
		cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", env.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")),
		&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	_, err = configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Fprintln(env.Out, "OnAdd :", obj.(*corev1.ConfigMap).Name) },
	})
	if err != nil {
		return err
	}

	// The log lacks the attributes "reflector", which is a line of code, "logger", which is
	// UnhandledError, and "type".
	configMaps.RunWithContext(klog.NewContext(ctx, logger(ctx, env.Out, "reflector", "logger", "type")))
	return nil
}
