package main

import (
	"context"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/07-shared-informer/web"
)

// follow serves a namespace until Ctrl-C.
func follow(ctx context.Context, s *kube.Session) error {
	f := newFactory(s)
	defer f.Shutdown()
	site, err := newSite(f, secrets)
	if err != nil {
		return err
	}
	server, err := web.Start(ctx, addr, site.pages())
	if err != nil {
		return err
	}
	s.Printf("Serving what is in one namespace. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s create deployment web --image=%[2]s --replicas=2\n"+
		"  curl '%[3]s/readyz'\n"+
		"  curl '%[3]s/'\n"+
		"  curl '%[3]s/deployments/%[4]s/web'\n"+
		"  %[1]s scale deployment web --replicas=3\n"+
		"  curl '%[3]s/pods?label=app%%3Dweb'\n"+
		"  curl '%[3]s/nodes'\n"+
		"  curl '%[3]s/secrets'\n"+
		"  %[1]s delete deployment web\n",
		s.Kubectl(), kube.PauseImage, server.URL(), s.Namespace)
	f.Start(ctx) // what has not come yet is answered with 503
	return server.Wait()
}
