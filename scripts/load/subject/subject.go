package subject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// environment holds the settings of a process that is to be a subject.
const environment = "INFORMER_LOAD_SUBJECT"

// Environment makes a process a subject, if its main calls Main.
func Environment(s Settings) string {
	text, _ := json.Marshal(s) // it cannot fail: numbers and strings
	return environment + "=" + string(text)
}

// Main is the whole of a process that was started with Environment. In any other
// process it does nothing.
func Main() {
	text, ok := os.LookupEnv(environment)
	if !ok {
		return
	}
	var s Settings
	err := json.Unmarshal([]byte(text), &s)
	if err == nil {
		err = s.serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// patience is for what takes seconds at most, unless it never comes.
const patience = 2 * time.Minute

// A subject is a factory with what measures it.
type subject struct {
	Settings
	handlers handlers
	meter    meter
	before   int // the heap before anything was started
	profiles profiles
}

// serve starts the factory, waits for it to sync, and then does what it is told.
func (s Settings) serve(orders io.Reader, reports io.Writer) error {
	sub := &subject{Settings: s, profiles: profiles{prefix: s.Profiles}}
	for range s.Handlers {
		sub.handlers = append(sub.handlers, newHandler(s.Objects))
	}
	sub.before = liveHeap()
	running, err := sub.sync()
	if err != nil {
		return err
	}
	defer running.stop()
	to, from := json.NewEncoder(reports), json.NewDecoder(orders)
	if err := to.Encode(sub.meter.read()); err != nil {
		return err
	}
	if err := sub.profiles.stopCPU(); err != nil {
		return err
	}
	for {
		var o Order
		if err := from.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading an order: %w", err)
		}
		r, err := sub.obey(o)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Do, err)
		}
		if err := to.Encode(r); err != nil {
			return err
		}
	}
}

// sync returns when all handlers have synced. The time begins here.
func (s *subject) sync() (running, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.profiles.startCPU("sync"); err != nil {
		return running{}, err
	}
	s.meter.read()
	client, err := s.client()
	if err != nil {
		return running{}, err
	}
	r, err := start(context.Background(), s.Factory, client, s.handlers)
	if err != nil {
		return running{}, err
	}
	if !cache.WaitFor(ctx, "", r.synced...) {
		r.stop()
		return running{}, fmt.Errorf("the handlers have not synced after %v", patience)
	}
	return r, nil
}

// client speaks protobuf, as the controllers of Kubernetes do.
func (s *subject) client() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	s.meter.count(config)
	return kubernetes.NewForConfig(config)
}

func (s *subject) obey(o Order) (Report, error) {
	switch o.Do {
	case Begin:
		liveHeap()
		s.handlers.lags()
		s.meter.read()
		return Report{}, s.profiles.startCPU("changes")
	case Mark:
		r := s.meter.read()
		lags := s.handlers.lags()
		r.Events, r.Median, r.P99 = len(lags), percentile(lags, 50), percentile(lags, 99)
		return r, nil
	case Memory:
		return s.memory()
	case Judge:
		s.await(o.Versions)
		return Report{Events: s.handlers.events(), Lost: s.handlers.missing(o.Versions)}, nil
	}
	return Report{}, errors.New("there is no such order")
}

func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100]
}

// memory leaves out what was there before the factory.
func (s *subject) memory() (Report, error) {
	if err := s.profiles.stopCPU(); err != nil {
		return Report{}, err
	}
	peak, err := peakMemory()
	if err != nil {
		return Report{}, err
	}
	heap := liveHeap() - s.before
	return Report{Heap: heap, Peak: peak}, s.profiles.heap()
}

// await returns when all handlers have seen these versions, or too late.
func (s *subject) await(versions []uint64) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for late := time.After(patience); s.handlers.missing(versions) > 0; {
		select {
		case <-again.C:
		case <-late:
			return
		}
	}
}
