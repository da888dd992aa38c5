// Finding tests that always skip.

package book

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// skipper looks for skips that every run comes to. What depends on more than
// constants of the same file counts as a test that may run.
type skipper struct {
	files *token.FileSet
	tree  *ast.File
}

// skips says whether these statements always come to a skip of t.
func (s skipper) skips(list []ast.Stmt, t string) bool {
	for _, statement := range list {
		switch st := statement.(type) {
		case *ast.BlockStmt:
			if s.skips(st.List, t) {
				return true
			}
		case *ast.IfStmt:
			then, otherwise := s.skips(st.Body.List, t), st.Else != nil && s.skips([]ast.Stmt{st.Else}, t)
			if then && otherwise || then && s.is(st.Cond, true) || otherwise && s.is(st.Cond, false) {
				return true
			}
		case *ast.ExprStmt:
			if call, ok := st.X.(*ast.CallExpr); ok && s.isSkip(call, t) {
				return true
			}
		}
		if mayReturn(statement) {
			return false
		}
	}
	return false
}

// isSkip says whether the call is a skip, or runs a function that always skips
// in the place of the test.
func (s skipper) isSkip(call *ast.CallExpr, t string) bool {
	switch types.ExprString(call.Fun) {
	case t + ".Skip", t + ".Skipf", t + ".SkipNow":
		return true
	case "synctest.Test", t + ".Fuzz":
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			f, ok := arg.(*ast.FuncLit)
			return ok && s.skips(f.Body.List, parameterOf(f.Type))
		})
	}
	return false
}

// is says whether the condition is a constant with this value.
func (s skipper) is(condition ast.Expr, value bool) bool {
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Error: func(error) {}} // imports are unknown, and stay so
	config.Check("", s.files, []*ast.File{s.tree}, &info)
	got := info.Types[condition].Value
	return got != nil && got.Kind() == constant.Bool && constant.BoolVal(got) == value
}

// mayReturn says whether the test may be over after the statement.
func mayReturn(statement ast.Stmt) (found bool) {
	ast.Inspect(statement, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}
