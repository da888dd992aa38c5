package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// needCluster skips a test with -short. It is for tests of the program, which connects to the
// cluster itself.
func needCluster(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
}

func TestFollowServesUntilCtrlC(t *testing.T) {
	needCluster(t)
	program := must.Command(t, "http", "-follow", "-addr", "localhost:0")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	asked := false
	code := must.ReadLines(t, program, func(line string) {
		found := url.FindString(line)
		if found == "" || asked {
			return
		}
		asked = true
		if status, body := get(t, found+"/"); status != http.StatusOK || body != "[]" {
			t.Errorf("GET / = %d %s, want 200 []", status, body)
		}
		must.NoError(t, program.Process.Signal(os.Interrupt))
	})
	if code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
	if !asked {
		t.Errorf("the program printed no URL %s", url)
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, s := range chapter.Steps {
		must.EndOnCtrlC(t, chapter, s.Name)
	}
}

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	needCluster(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{
		busy.Addr().String(): "address already in use",
		"nonsense":           "missing port in address",
		"192.0.2.1:4000":     "cannot assign requested address",
	} {
		for name, args := range map[string][]string{
			"http":         {"-addr", address, "http"},
			"http -follow": {"-addr", address, "http", "-follow"},
		} {
			t.Run(name+" "+says, func(t *testing.T) {
				t.Parallel()
				must.ExitWith(t, must.Command(t, args...), 1, "listen tcp", address, says, "-addr")
			})
		}
	}
}

// get asks for a page over a connection of its own.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	must.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(text))
}
