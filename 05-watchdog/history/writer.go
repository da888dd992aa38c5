// The writers of changes.

package history

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
)

// A writer changes ConfigMaps of its own at random, and notes what
// happened. Which changes it makes depends on the seed alone.
type writer struct {
	name     string
	random   *rand.Rand
	session  *kube.Session
	happened *notes[state]
	alive    map[string]*corev1.ConfigMap
	made     int
}

// write makes some changes: it makes what is not there, and changes or deletes
// what is.
func (w *writer) write(ctx context.Context) error {
	configMaps := w.session.Clientset.CoreV1().ConfigMaps(w.session.Namespace)
	for range changes {
		name := fmt.Sprintf("%s-%d", w.name, w.random.IntN(8))
		w.made++
		next := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Data:       map[string]string{"value": fmt.Sprint(w.made)},
		}
		var err error
		switch now, isThere := w.alive[name]; {
		case !isThere:
			next, err = configMaps.Create(ctx, next, metav1.CreateOptions{})
		case w.random.IntN(5) < 2:
			err, next = configMaps.Delete(ctx, name, metav1.DeleteOptions{}), nil
			gone := stateOf(now)
			gone.version, gone.over = "", true
			w.happened.add(name, gone)
			delete(w.alive, name)
		default:
			next.ResourceVersion = now.ResourceVersion
			next, err = configMaps.Update(ctx, next, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("change %d of %s: %w", w.made, name, err)
		}
		if next != nil {
			w.alive[name] = next
			w.happened.add(name, stateOf(next))
		}
	}
	return nil
}
