// The writers of changes.

package record

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/session"
)

// changeLog is what all writers have changed. The zero value is ready for use.
type changeLog struct {
	mu  sync.Mutex
	all []Change
}

func (l *changeLog) add(o *corev1.ConfigMap, deleted bool) {
	c := Change{Key: cache.MetaObjectToName(o).String(), UID: o.UID, Deleted: deleted, Object: o}
	if !deleted {
		c.Version = o.ResourceVersion
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, c)
}

func (l *changeLog) changes() []Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// A writer changes ConfigMaps of its own at random, and logs the changes. Which
// changes it makes depends on the seed alone.
type writer struct {
	name    string
	random  *rand.Rand
	session *session.Session
	log     *changeLog
	exists  map[string]*corev1.ConfigMap
	made    int
}

// write makes some changes: it creates an object that does not exist, and
// updates or deletes one that does.
func (w *writer) write(ctx context.Context) error {
	configMaps := w.session.Client.CoreV1().ConfigMaps(w.session.Namespace)
	for range changes {
		name := fmt.Sprintf("%s-%d", w.name, w.random.IntN(8))
		w.made++
		next := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Data:       map[string]string{"value": fmt.Sprint(w.made)},
		}
		var err error
		deleted := false
		switch now, exists := w.exists[name]; {
		case !exists:
			next, err = configMaps.Create(ctx, next, metav1.CreateOptions{})
		case w.random.IntN(5) < 2:
			deleted, next = true, now
			err = configMaps.Delete(ctx, name, metav1.DeleteOptions{})
		default:
			next.ResourceVersion = now.ResourceVersion
			next, err = configMaps.Update(ctx, next, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("change %d of %s: %w", w.made, name, err)
		}
		w.log.add(next, deleted)
		if w.exists[name] = next; deleted {
			delete(w.exists, name)
		}
	}
	return nil
}
