// Many updates, on a fake clientset and in fake time.

package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"example.com/informer/docs/xray/recorder"
)

func TestManyUpdates(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		for _, n := range []int{0, -1, maxUpdates + 1} {
			_, err := f.do(actionRequest{Action: "update", Count: n})
			wantRefused(t, err, http.StatusBadRequest, "want 1 to 10000")
		}
		f.Informer.SetPatience(50)
		f.mustDo(actionRequest{Action: "update", Count: 300}) // of an object that it creates
		f.settle()
		f.wantInBoth("fast", 301, 0)
		clientGo := f.handlerStation(recorder.ClientGo, "slow")
		if got := clientGo.Calls + clientGo.Waiting; got != 301 {
			t.Errorf("client-go's slow handler has %d calls and %d waiting: %d, want 301", clientGo.Calls,
				clientGo.Waiting, got)
		}
		ours := f.handlerStation(recorder.Ours, "slow")
		if got := ours.Calls + ours.Waiting + ours.Folded; got != 301 {
			t.Errorf("our slow handler has %d calls, %d waiting and %d folded: %d, want 301", ours.Calls,
				ours.Waiting, ours.Folded, got)
		}
		if ours.Folded == 0 {
			t.Error("nothing was folded for our slow handler, which is far behind")
		}
		if got, ok := f.stations()["bulk"]; ok {
			t.Errorf("after the updates there is a station bulk: %d of %d", got.Made, got.Of)
		}
		f.wantCaption("300 updates are made.")
	})
}

// There is one bulk of updates at a time. It ends with the context, whatever the API server does.
func TestManyUpdatesOneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		f.Objects.Patch = func(ctx context.Context, _ string, _ []byte) error {
			<-ctx.Done()
			return ctx.Err()
		}
		f.mustDo(actionRequest{Action: "update", Count: 10_000})
		if got := f.station("bulk"); got.What != "10,000 updates" || got.Made != 0 || got.Of != 10_000 {
			t.Errorf("bulk = %q, %d of %d; want 10,000 updates, 0 of 10000", got.What, got.Made, got.Of)
		}
		_, err := f.do(actionRequest{Action: "update", Count: 1})
		wantRefused(t, err, http.StatusConflict, "under way")
		f.stop()
		_, err = f.do(actionRequest{Action: "update", Count: 1})
		wantRefused(t, err, http.StatusBadGateway, "canceled")
	}, "a")
}

// The user can cancel many updates. Then others can begin.
func TestManyUpdatesAreCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		_, err := f.do(actionRequest{Action: "cancel"})
		wantRefused(t, err, http.StatusConflict, "no updates are under way")
		var patched atomic.Int64
		patch := f.Objects.Patch
		f.Objects.Patch = func(ctx context.Context, name string, text []byte) error {
			if patched.Add(1) <= 7 {
				return patch(ctx, name, text)
			}
			<-ctx.Done()
			return ctx.Err()
		}
		f.mustDo(actionRequest{Action: "update", Count: 10_000})
		f.mustDo(actionRequest{Action: "cancel"})
		f.settle()
		f.wantCaption("The updates are cancelled, after 7 updates.")
		f.Objects.Patch = patch
		f.mustDo(actionRequest{Action: "update", Count: 2})
		f.settle()
		f.wantCaption("2 updates are made.")
	}, "a")
}

func TestManyUpdatesThatFail(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		f.Objects.Patch = func(context.Context, string, []byte) error { return errors.New("not today") }
		f.mustDo(actionRequest{Action: "update", Count: 100})
		f.settle()
		f.wantCaption("The updates were broken off: not today")
	}, "a")
}
