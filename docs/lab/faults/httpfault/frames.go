// Faults in the frames of a watch: what a broken server, or a broken proxy in
// front of it, sends.

package httpfault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cut ends the stream in the middle of the frame.
func Cut(frame []byte) ([]byte, bool) { return frame[:len(frame)/2], true }

// Garbage puts bytes in front of the frame that are not JSON.
func Garbage(frame []byte) ([]byte, bool) {
	return prepend(frame, "<html>\x00\xff\xfe 502 Bad Gateway</html>"), false
}

// UnknownType puts an event of a type in front that does not exist.
func UnknownType(frame []byte) ([]byte, bool) {
	return prepend(frame, fmt.Sprintf(`{"type":"EXPLODED","object":%s}`, object(frame))), false
}

// ErrorEvent puts an event in front that says that the server has failed, and
// Expired one that says that the watch's version is too old.
var (
	ErrorEvent = errorEvent(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	Expired    = errorEvent(http.StatusGone, metav1.StatusReasonExpired)
)

func errorEvent(code int, reason metav1.StatusReason) FrameFault {
	return func(frame []byte) ([]byte, bool) {
		return prepend(frame, fmt.Sprintf(`{"type":"ERROR","object":%s}`, status(code, reason))), false
	}
}

// WrongKind puts an object of another kind in front, where a watch never has one.
func WrongKind(frame []byte) ([]byte, bool) {
	return prepend(frame, `{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":`+
		`{"name":"stray","namespace":"default","uid":"stray","resourceVersion":"1"}}}`), false
}

// NoName puts a copy of the frame's object in front that has lost its name.
func NoName(frame []byte) ([]byte, bool) {
	var nameless map[string]any
	if err := json.Unmarshal(object(frame), &nameless); err != nil {
		return append(bytes.Clone(frame), '\n'), false
	}
	metadata, _ := nameless["metadata"].(map[string]any)
	delete(metadata, "name")
	b, err := json.Marshal(map[string]any{"type": "ADDED", "object": nameless})
	if err != nil {
		panic(err) // it was JSON before
	}
	return prepend(frame, string(b)), false
}

func prepend(frame []byte, what string) []byte {
	return fmt.Appendf(nil, "%s\n%s\n", what, frame)
}

func object(frame []byte) json.RawMessage {
	var event struct{ Object json.RawMessage }
	if err := json.Unmarshal(frame, &event); err != nil || event.Object == nil {
		return json.RawMessage("{}")
	}
	return event.Object
}
