package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/cable"
	"example.com/informer/03-reflector/flow"
)

// relist deletes an object while the reflector cannot hear of it. The next
// list lacks it, and the queue concludes what must have happened.
func relist(ctx context.Context, s *kube.Session) error {
	line, err := cable.New(s)
	if err != nil {
		return err
	}
	defer line.Close()
	if _, err := s.CreateConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	store, queue := newQueue()
	defer flow.Start(ctx, cache.NewReflector(line.Session.OwnConfigMaps(), &corev1.ConfigMap{}, queue, 0))()

	cut := func(ctx context.Context) error { return missed(ctx, s, line) }
	return flow.Together(ctx, cut, func(ctx context.Context) error {
		return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
			return errors.Join(keep(store, d), showConfigMap(s, d, "Deleted doomed"))
		})
	})
}

// missed is what happens on the server while the cable is pulled out. It is
// plugged in only when the reflector has given up its watch and asks for a list.
func missed(ctx context.Context, s *kube.Session, line *cable.Cable) error {
	if err := s.WaitPrinted(ctx, "Sync : doomed"); err != nil {
		return err
	}
	s.Printf("# the cable is pulled out\n")
	line.Pull()
	before := line.Asked.Lists()
	if err := s.DeleteConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	if _, err := s.CreateConfigMap(ctx, "newcomer"); err != nil {
		return err
	}
	err := flow.Until(ctx, "a request for a list", func() bool { return line.Asked.Lists() > before })
	s.Printf("# the cable is plugged in\n")
	line.Plug()
	return err
}
