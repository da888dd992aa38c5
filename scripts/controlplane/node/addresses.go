// The addresses of the pods: each its own, out of the node's range.

package node

import (
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// addresses hands out the addresses of a range in turn, so that one that was
// given back rests as long as possible. Like a bridge network it keeps the
// first two (the network's own and the gateway's) and the last to itself.
//
// Invariant: byPod and taken are each other's inverse.
type addresses struct {
	mu    sync.Mutex
	cidr  netip.Prefix
	last  netip.Addr // the address given out last
	byPod map[types.UID]netip.Addr
	taken map[netip.Addr]types.UID
}

func newAddresses(cidr netip.Prefix) *addresses {
	return &addresses{
		cidr:  cidr.Masked(),
		last:  firstOf(cidr).Prev(),
		byPod: map[types.UID]netip.Addr{},
		taken: map[netip.Addr]types.UID{},
	}
}

// firstOf is the first address of a range that a pod may have.
func firstOf(cidr netip.Prefix) netip.Addr { return cidr.Masked().Addr().Next().Next() }

// after is the address that has its turn after ip; after the last comes the first.
func (a *addresses) after(ip netip.Addr) netip.Addr {
	ip = ip.Next()
	if !a.cidr.Contains(ip) || !a.cidr.Contains(ip.Next()) {
		return firstOf(a.cidr)
	}
	return ip
}

// take gives the pod its address, the same one however often it asks.
func (a *addresses) take(pod types.UID) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ip, ok := a.byPod[pod]; ok {
		return ip, nil
	}
	first := a.after(a.last)
	ip := first
	for a.taken[ip] != "" {
		if ip = a.after(ip); ip == first {
			return netip.Addr{},
				fmt.Errorf("no address left in %s: %d pods have one; delete some", a.cidr, len(a.taken))
		}
	}
	a.last = ip
	a.byPod[pod], a.taken[ip] = ip, pod
	return ip, nil
}

// keep notes the address that a pod has from before this process. An address
// that is not of the range, or that another pod has, is none of its business.
func (a *addresses) keep(pod types.UID, address string) {
	ip, err := netip.ParseAddr(address)
	if err != nil || !a.cidr.Contains(ip) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken[ip] != "" || a.byPod[pod].IsValid() {
		return
	}
	a.byPod[pod], a.taken[ip] = ip, pod
}

// release takes the pod's address back; a pod without one is fine.
func (a *addresses) release(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.taken, a.byPod[pod])
	delete(a.byPod, pod)
}
