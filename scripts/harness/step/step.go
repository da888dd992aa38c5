// Package step is package play on a cluster: each step has clients, and a namespace
// of its own.
package step

import (
	"context"
	"flag"
	"io/fs"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/step/play"
)

// A Lesson is what a step works with. Of one that is Offline, only Out and On are
// of use.
type Lesson struct {
	*play.Lesson
	Client    kubernetes.Interface
	Config    *rest.Config // for other clients than that one
	Namespace string       // of the step's own; it is removed afterwards

	// Requests counts what was asked of the API server with Client and Config.
	Requests *requests.Counter

	proxy *netfault.Proxy // of ClientOnCable
}

// A Step is a play.Step whose program gets a Lesson with a cluster.
type Step struct {
	Name, Title   string
	Run           func(ctx context.Context, l *Lesson) error
	Offline, Fold bool
	Speakers      []string
	Quiet         time.Duration
}

// A Chapter is a play.Chapter of such steps.
type Chapter struct {
	Name, Title string
	Steps       []Step
	Files       fs.FS
	Flags       func(*flag.FlagSet)
}

// Main runs the chapter as the command line asks, and exits.
func Main(c Chapter) { play.Main(c.Played()) }

// Played is the chapter for the player. It has the flags that choose a cluster.
func (c Chapter) Played() play.Chapter {
	var options session.Options
	played := play.Chapter{Name: c.Name, Title: c.Title, Files: c.Files}
	played.Flags = func(flags *flag.FlagSet) {
		options.Flags(flags)
		if c.Flags != nil {
			c.Flags(flags)
		}
	}
	played.Connect = func(ctx context.Context) (play.Cluster, error) {
		own := options
		own.Patience = play.Patience(ctx)
		s, err := session.Open(ctx, own)
		return &cluster{Session: s}, err
	}
	for _, s := range c.Steps {
		played.Steps = append(played.Steps, play.Step{
			Name: s.Name, Title: s.Title, Offline: s.Offline, Fold: s.Fold, Speakers: s.Speakers, Quiet: s.Quiet,
			Run: func(ctx context.Context, l *play.Lesson) error {
				lesson, err := newLesson(l)
				if err != nil {
					return err
				}
				defer lesson.proxy.Close()
				return s.Run(ctx, lesson)
			},
		})
	}
	return played
}

// A cluster is a session, and the count of what the step asks.
type cluster struct {
	*session.Session
	requests requests.Counter
}

func (c *cluster) Namespace() string { return c.Session.Namespace }
func (c *cluster) Watching() bool    { return c.requests.Watching() }

// newLesson gives a lesson clients of its own, so that what the step asks of the
// API server can be counted.
func newLesson(l *play.Lesson) (lesson *Lesson, err error) {
	c, ok := l.Cluster.(*cluster)
	if !ok {
		return &Lesson{Lesson: l, Requests: &requests.Counter{}, proxy: netfault.New("")}, nil
	}
	lesson = &Lesson{Lesson: l, Namespace: c.Namespace(), Config: rest.CopyConfig(c.Config), Requests: &c.requests}
	c.requests.Count(lesson.Config)
	if lesson.proxy, err = netfault.For(lesson.Config); err != nil {
		return nil, err
	}
	lesson.Client, err = kubernetes.NewForConfig(lesson.Config)
	return lesson, err
}

// ClientOnCable returns a client whose bytes all go through a proxy. It loses the API server where the
// transcript says "> the cable is pulled out", and gets it back where it says "> the cable is plugged
// in": not before it has failed to reach the server, because then a reflector has to list.
func (l *Lesson) ClientOnCable(ctx context.Context) (kubernetes.Interface, error) {
	config := rest.CopyConfig(l.Config)
	config.Dial = l.proxy.Dial
	l.On("the cable is pulled out", l.proxy.Pull)
	l.On("the cable is plugged in", func() {
		_ = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return l.proxy.DialFailed(), nil })
		l.proxy.Restore()
	})
	return kubernetes.NewForConfig(config)
}
