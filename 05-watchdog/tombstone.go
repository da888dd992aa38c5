package main

import (
	"context"
	"errors"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/cable"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/05-watchdog/calls"
)

// tombstone deletes an object while the WatchDog has no way to the server. The
// list that follows lacks it: the handler gets what was last seen of it,
// wrapped. And of what is still there it hears once more.
func tombstone(ctx context.Context, s *kube.Session) (err error) {
	line, err := cable.New(s)
	if err != nil {
		return err
	}
	defer line.Close()
	if err := s.CreateConfigMapWith(ctx, "doomed", "sky", "blue"); err != nil {
		return err
	}
	dog, stop, err := watch(ctx, line.Session, calls.Print(s.Printf, calls.Data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := s.CreateConfigMapWith(ctx, "kept", "sky", "blue"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnAdd : kept"); err != nil {
		return err
	}

	s.Printf("# the cable is pulled out\n")
	line.Pull()
	if err := s.DeleteConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	if err := flow.Until(ctx, "the reflector cannot resume its watch", line.Refused); err != nil {
		return err
	}
	s.Printf("# the cable is plugged in\n")
	line.Plug()
	if err := s.WaitPrinted(ctx, "OnDelete : doomed"); err != nil {
		return err
	}
	s.Printf("the store holds : %s\n", names(dog.Store()))
	return nil
}
