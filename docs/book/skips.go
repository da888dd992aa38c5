// Finding tests that always skip.

package book

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// A skipFinder looks for skips that every run comes to. What depends on more than
// constants of the same file counts as a test that may run.
type skipFinder struct{ types.Info }

func newSkipFinder(files *token.FileSet, tree *ast.File) skipFinder {
	s := skipFinder{types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	config := types.Config{Error: func(error) {}} // imports are unknown, and stay so
	config.Check("", files, []*ast.File{tree}, &s.Info)
	return s
}

// skips says whether a function always comes to a skip of t.
func (s skipFinder) skips(body *ast.BlockStmt, t string) bool {
	graph := cfg.New(body, func(call *ast.CallExpr) (returns bool) { return !s.isSkip(call, t) })
	return !s.returns(graph.Blocks[0], map[*cfg.Block]bool{})
}

// returns says whether a run can come from this block to the function's end.
func (s skipFinder) returns(from *cfg.Block, seen map[*cfg.Block]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	next := from.Succs
	if len(next) == 2 && next[0].Kind == cfg.KindIfThen { // the last node is the condition
		switch condition := from.Nodes[len(from.Nodes)-1].(ast.Expr); {
		case s.is(condition, true):
			next = next[:1]
		case s.is(condition, false):
			next = next[1:]
		}
	}
	return from.Return() != nil ||
		slices.ContainsFunc(next, func(b *cfg.Block) bool { return s.returns(b, seen) })
}

// isSkip says whether the call is a skip, or runs a function that always skips
// in the place of the test.
func (s skipFinder) isSkip(call *ast.CallExpr, t string) bool {
	switch types.ExprString(call.Fun) {
	case t + ".Skip", t + ".Skipf", t + ".SkipNow":
		return true
	case "synctest.Test", t + ".Fuzz":
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			f, ok := arg.(*ast.FuncLit)
			return ok && s.skips(f.Body, parameterOf(f.Type))
		})
	}
	return false
}

// is says whether the condition is a constant with this value.
func (s skipFinder) is(condition ast.Expr, value bool) bool {
	got := s.Types[condition].Value
	return got != nil && got.Kind() == constant.Bool && constant.BoolVal(got) == value
}
