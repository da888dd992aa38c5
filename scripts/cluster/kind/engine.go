// Finding a container engine that answers.

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
)

// answerWithin is how long an engine may take to answer before it counts as absent.
const answerWithin = 5 * time.Second

// ErrNoEngine says that kind cannot be used on this machine.
var ErrNoEngine = errors.New(
	"no container engine answers (tried docker, nerdctl, finch, podman): start one, or use scripts/local-up.sh, " +
		"which needs none")

// engine is a command-line client of a container engine that kind can drive.
type engine struct {
	command  string
	says     string // how its version line begins; "docker" may be an alias for podman
	provider func() cluster.ProviderOption
}

// engines in the order in which kind itself looks for them.
var engines = []engine{
	{"docker", "Docker version", cluster.ProviderWithDocker},
	{"nerdctl", "nerdctl version", func() cluster.ProviderOption { return cluster.ProviderWithNerdctl("nerdctl") }},
	{"finch", "finch version", func() cluster.ProviderOption { return cluster.ProviderWithNerdctl("finch") }},
	{"podman", "podman version", cluster.ProviderWithPodman},
}

// EngineAnswers returns ErrNoEngine if there is no engine to run kind on.
func EngineAnswers(ctx context.Context) error {
	_, err := detect(ctx)
	return err
}

// detect asks all engines at once, so that one that hangs costs its time but
// once. $KIND_EXPERIMENTAL_PROVIDER, where set, names the only one to ask, as
// for the kind command.
func detect(ctx context.Context) (engine, error) {
	wanted := os.Getenv("KIND_EXPERIMENTAL_PROVIDER")
	answers := make([]bool, len(engines))
	var wg sync.WaitGroup
	for i, e := range engines {
		if wanted == "" || wanted == e.command {
			wg.Go(func() { answers[i] = e.answers(ctx) })
		}
	}
	wg.Wait()
	for i, e := range engines {
		if answers[i] {
			return e, nil
		}
	}
	if ctx.Err() != nil {
		return engine{}, context.Cause(ctx)
	}
	return engine{}, ErrNoEngine
}

func (e engine) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	version, err := e.run(ctx, "-v")
	if err != nil || !strings.HasPrefix(version, e.says) {
		return false
	}
	_, err = e.run(ctx, "ps", "--quiet")
	return err == nil
}

// run runs the engine's client with its children in a process group, which is
// killed when ctx ends. An error holds the last line of what it said.
func (e engine) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.command, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", e.command, args[0], err, text[strings.LastIndexByte(text, '\n')+1:])
	}
	return text, nil
}
