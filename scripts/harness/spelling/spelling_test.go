package spelling

import "testing"

func TestNearest(t *testing.T) {
	steps := []string{"list", "watch", "wire", "put", "pop", "x", "队"}
	for name, want := range map[string]string{
		"wacht": "watch", "watches": "watch", "lst": "list", "List": "list", "putt": "put", "pot": "put", "p": "",
		"": "", "unicorn": "", "lists-of-pods": "", "y": "", "列": "",
	} {
		if got := Nearest(name, steps); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got, want := DidYouMean("putt", steps), ": did you mean put?"; got != want {
		t.Errorf("DidYouMean(putt) = %q, want %q", got, want)
	}
	if got := DidYouMean("unicorn", steps); got != "" {
		t.Errorf("DidYouMean(unicorn) = %q, want nothing", got)
	}
}
