package main

import (
	"context"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/07-shared-informer/web"
)

// follow serves a namespace's pods, and prints what happens to them, until
// Ctrl-C.
func follow(ctx context.Context, s *kube.Session) error {
	pods := served(s)
	if _, err := pods.AddEventHandler(named(s.Printf, "told", calls.Phase)); err != nil {
		return err
	}
	stop, err := start(ctx, pods)
	if err != nil {
		return err
	}
	defer stop()
	server, err := web.Start(ctx, addr, pages(pods.GetIndexer()))
	if err != nil {
		return err
	}
	s.Printf("Serving pods. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s run mysql-0 --image=%[2]s --labels=app=mysqltest\n"+
		"  curl '%[3]s/'\n"+
		"  curl '%[3]s/pods'\n"+
		"  curl '%[3]s/indexes'\n"+
		"  %[1]s label --overwrite pod mysql-0 app=web\n"+
		"  curl '%[3]s/pods?app=web'\n"+
		"  curl '%[3]s/indexes/app/web'\n"+
		"  %[1]s delete pod mysql-0\n",
		s.Kubectl(), kube.PauseImage, server.URL())
	return server.Wait()
}
