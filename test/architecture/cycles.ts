/**
 * The circles of a directed graph: each group of nodes that reach one another, smallest name first (Tarjan 1972).
 * `edges` gives the successors of a node.
 */
export function findCycles(nodes: readonly string[], edges: (node: string) => readonly string[]): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []

  function visit(node: string): void {
    index.set(node, index.size)
    low.set(node, index.get(node)!)
    stack.push(node)
    for (const next of edges(node)) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!))
    }
    if (low.get(node) === index.get(node)) collect(node)
  }

  function collect(root: string): void {
    const group = stack.splice(stack.indexOf(root))
    if (group.length > 1 || edges(root).includes(root)) cycles.push(group.toSorted())
  }

  for (const node of nodes) if (!index.has(node)) visit(node)
  return cycles
}
