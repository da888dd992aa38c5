package main

import (
	"os"
	"regexp"
	"testing"
)

// A script that a message names is there.
func TestAClusterInTheWayNamesScriptsThatExist(t *testing.T) {
	for _, maker := range []string{byKind, byLocal, byYou} {
		said := (&cluster{maker: maker, kubeconfig: "/a"}).inTheWay().Error()
		scripts := regexp.MustCompile(`scripts/\S+\.sh`).FindAllString(said, -1)
		if (len(scripts) == 0) != (maker == byYou) {
			t.Errorf("made by %s: it names the scripts %q, want one, and none for the user's own:\n%s",
				maker, scripts, said)
		}
		for _, script := range scripts {
			if _, err := os.Stat("../../" + script); err != nil {
				t.Errorf("made by %s: %v:\n%s", maker, err, said)
			}
		}
	}
}
