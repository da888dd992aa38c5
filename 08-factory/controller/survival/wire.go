package survival

import (
	"encoding/json"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/fault"
)

// A request is a request of the controller.
type request = fault.Request

// A target is an object, or all objects of a resource.
type target struct {
	resource string // such as configmaps
	name     string // empty for a list
}

func targetOf(sent *request) target { return target{resource: sent.Resource, name: sent.Name} }

// writes reports whether the request changes an object that is not an Event.
func writes(sent *request) bool { return sent.Verb.Writes() && sent.Resource != "events" }

// isAnswered reports whether the request has ended.
func isAnswered(sent *request) bool { return !sent.Ended.IsZero() }

// creates matches the requests that create an object.
func creates(object target) func(*request) bool {
	return func(sent *request) bool { return targetOf(sent) == object && sent.Verb == fault.Create }
}

// deletes matches the requests that delete an object.
func deletes(object target) func(*request) bool {
	return func(sent *request) bool { return targetOf(sent) == object && sent.Verb == fault.Delete }
}

// changes matches the requests that change or delete an object. A write of its status does not count.
func changes(object target) func(*request) bool {
	return func(sent *request) bool {
		return targetOf(sent) == object && writes(sent) && sent.Verb != fault.Create && sent.Subresource != "status"
	}
}

// eventAbout returns the UID of the object that an Event is about, if the request creates an Event.
func eventAbout(sent *request) types.UID {
	var event struct {
		Regarding      struct{ UID types.UID }
		InvolvedObject struct{ UID types.UID }
	}
	if sent.Resource != "events" || json.Unmarshal(sent.Body, &event) != nil {
		return ""
	}
	return event.Regarding.UID + event.InvolvedObject.UID // one of them is empty
}

// refuse adds a rule: the API server seems to refuse the next n requests that match, or all if n is 0.
// remove removes the rule, and returns how many requests were still to be refused.
func (r *runner) refuse(n, status int, matches func(*request) bool) (remove func() int) {
	reasons := map[int]metav1.StatusReason{
		http.StatusConflict:            metav1.StatusReasonConflict,
		http.StatusForbidden:           metav1.StatusReasonForbidden,
		http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
		http.StatusGone:                metav1.StatusReasonExpired,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}
	return r.wire.Add(fault.Rule{Times: n, Matches: matches, Answer: fault.Refuse(&apierrors.StatusError{
		ErrStatus: metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure,
			Reason:   reasons[status],
			Code:     int32(status),
			Message:  "the survival test has refused this request",
		},
	})})
}

// loseAfter loses the requests that a controller sends after it has returned: in practice, its process
// has ended.
func loseAfter(returned <-chan struct{}, config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return fault.RoundTripper(func(httpRequest *http.Request) (*http.Response, error) {
			select {
			case <-returned:
				return nil, errors.New("the controller has returned")
			default:
				return next.RoundTrip(httpRequest)
			}
		})
	})
}
