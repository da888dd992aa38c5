// The pods of the node: an informer that sees them, a queue of those to look
// at, and the step that each is due to take.

package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

const (
	podWorkers = 4
	retryFirst = 50 * time.Millisecond
	retryMax   = 2 * time.Second
)

// pods moves each pod of the node along. What to do next follows from the pod
// as the API server has it, so nothing is lost when the process ends; only how
// long a pod has been waiting starts anew.
type pods struct {
	client    kubernetes.Interface
	config    Config
	factory   informers.SharedInformerFactory
	lister    corelisters.PodLister
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]
	addresses *addresses
	podStages *podStages
	events    *events // while it runs
}

func newPods(client kubernetes.Interface, config Config) *pods {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", config.Name).String()
		}))
	return &pods{
		client:  client,
		config:  config,
		factory: factory,
		lister:  factory.Core().V1().Pods().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](retryFirst, retryMax)),
		addresses: newAddresses(podCIDR),
		podStages: newPodStages(),
	}
}

// run works until ctx is done.
func (p *pods) run(ctx context.Context) error {
	defer p.queue.ShutDown()
	handler, err := p.factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    p.enqueue,
		UpdateFunc: func(_, pod any) { p.enqueue(pod) },
		DeleteFunc: p.enqueue,
	})
	if err != nil {
		return fmt.Errorf("watching the pods of the node: %w", err)
	}
	p.events = startEvents(ctx, p.client, p.config.Name)
	defer p.events.stop()
	p.factory.StartWithContext(ctx)
	defer p.factory.Shutdown()
	if !cache.WaitFor(ctx, "", handler.HasSyncedChecker()) {
		return ctx.Err()
	}
	if err := p.resume(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range podWorkers {
		wg.Go(func() { p.work(ctx) })
	}
	<-ctx.Done()
	p.queue.ShutDown()
	wg.Wait()
	return ctx.Err()
}

// resume notes the addresses that pods have from before this process: no pod
// may get one that another has.
func (p *pods) resume() error {
	all, err := p.lister.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing the pods of the node: %w", err)
	}
	for _, pod := range all {
		if !podutil.IsPodTerminal(pod) && !pod.Spec.HostNetwork && pod.Status.PodIP != "" {
			p.addresses.keep(pod.UID, pod.Status.PodIP)
		}
	}
	return nil
}

func (p *pods) enqueue(obj any) {
	if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
		p.queue.Add(name)
	}
}

func (p *pods) work(ctx context.Context) {
	for {
		name, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		p.handle(ctx, name)
		p.queue.Done(name)
	}
}

// handle lets a pod take its step and says when to look at it again.
func (p *pods) handle(ctx context.Context, name cache.ObjectName) {
	again, err := p.step(ctx, name)
	switch {
	case err == nil:
		p.queue.Forget(name)
		if again > 0 {
			p.queue.AddAfter(name, again)
		}
	case ctx.Err() != nil:
	default:
		// A conflict says that the cache is behind: the newer pod is on its way.
		if !apierrors.IsConflict(err) {
			klog.FromContext(ctx).Error(err, "Could not move the pod along; will try again", "pod", name)
		}
		p.queue.AddRateLimited(name)
	}
}

// step does what the pod is due for, or returns how long that has to wait.
func (p *pods) step(ctx context.Context, name cache.ObjectName) (time.Duration, error) {
	pod, err := p.lister.Pods(name.Namespace).Get(name.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, err
	}
	here := err == nil && pod.Spec.NodeName == p.config.Name
	p.settle(name, pod, here)
	if !here {
		return 0, nil
	}
	stage := stageOf(pod)
	if left := p.podStages.left(name, stage, delays[stage]); left > 0 {
		return left, nil
	}
	now := metav1.Now().Rfc3339Copy() // as the API server will give it back
	switch stage {
	case accepting:
		return 0, p.write(ctx, pod, creatingStatus(pod, now))
	case starting, running:
		return 0, p.start(ctx, pod, now)
	case noticing:
		if err := p.write(ctx, pod, observedStatus(pod)); err != nil {
			return 0, err
		}
		p.events.stopping(pod)
		return 0, nil
	case stopping:
		return 0, p.stop(ctx, pod, now)
	case removing:
		return 0, p.remove(ctx, pod)
	}
	return 0, nil
}

// settle notes which pod has the name now, if any, and frees what the pod held
// that had it before. Only the worker that has the name in hand does this, so
// a pod that is gone takes nothing any more.
func (p *pods) settle(name cache.ObjectName, pod *v1.Pod, here bool) {
	var uid types.UID
	if here {
		uid = pod.UID
	}
	if before := p.podStages.set(name, uid); before != "" {
		p.addresses.release(before)
	}
}

// start gets the containers running, those that run already left alone.
func (p *pods) start(ctx context.Context, pod *v1.Pod, now metav1.Time) error {
	ip := pod.Status.PodIP
	switch {
	case pod.Spec.HostNetwork:
		ip = hostIP
	case ip == "":
		address, err := p.addresses.take(pod.UID)
		if err != nil {
			return err
		}
		ip = address.String()
	}
	status := runningStatus(pod, ip, now)
	if err := p.write(ctx, pod, status); err != nil {
		return err
	}
	p.events.started(pod, status)
	return nil
}

// stop ends the containers.
func (p *pods) stop(ctx context.Context, pod *v1.Pod, now metav1.Time) error {
	if err := p.write(ctx, pod, stoppedStatus(pod, now)); err != nil {
		return err
	}
	p.addresses.release(pod.UID)
	return nil
}

// write stores a status unless the pod has it already. The API server refuses
// it if the pod is not the one that was looked at any more.
func (p *pods) write(ctx context.Context, pod *v1.Pod, status v1.PodStatus) error {
	if equality.Semantic.DeepEqual(pod.Status, status) {
		return nil
	}
	changed := pod.DeepCopy()
	changed.Status = status
	_, err := p.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// remove deletes the pod for good: this pod, not one of the same name that
// may have taken its place.
func (p *pods) remove(ctx context.Context, pod *v1.Pod) error {
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
