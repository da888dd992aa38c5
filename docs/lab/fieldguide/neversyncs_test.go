// An informer whose HasSynced stays false.

package fieldguide

import (
	"testing"

	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestRightsAreMissing(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	account := s.Namespace + ":default"
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + account}
	informer := runConfigMaps(t, config, s.Namespace)
	log.want(t, `E… reflector.go:…] "Failed to watch" err="failed to list *v1.ConfigMap: configmaps is forbidden: User … cannot list resource \"configmaps\" in API group \"\" in the namespace \"…\"" …`)
	if informer.HasSynced() {
		t.Error("it has synced")
	}
	sessiontest.Kubectl(t, s, "create role reader --verb=list --resource=configmaps")
	sessiontest.Kubectl(t, s, "create rolebinding reader --role=reader --serviceaccount="+account)
	log.want(t, `E… reflector.go:…] "Failed to watch" err="configmaps is forbidden: User … cannot watch resource \"configmaps\" in API group \"\" in the namespace \"…\"" …`)
	must.Until(t, "it has synced", informer.HasSynced)
	t.Log(log)
}
