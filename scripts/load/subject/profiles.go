// Profiles, for whoever asks why.

package subject

import (
	"os"
	"runtime/pprof"
)

// profiles writes what go tool pprof reads, to files that begin with prefix; if
// that is empty it does nothing.
type profiles struct {
	prefix string
	cpu    *os.File // nil if none is being written
}

func (p *profiles) startCPU(of string) (err error) {
	if p.prefix == "" {
		return nil
	}
	if p.cpu, err = os.Create(p.prefix + of + ".cpu"); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.cpu)
}

func (p *profiles) stopCPU() error {
	if p.cpu == nil {
		return nil
	}
	pprof.StopCPUProfile()
	err := p.cpu.Close()
	p.cpu = nil
	return err
}

// heap is of what has survived the last garbage collection.
func (p *profiles) heap() error {
	if p.prefix == "" {
		return nil
	}
	f, err := os.Create(p.prefix + "heap")
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("heap").WriteTo(f, 0)
}
