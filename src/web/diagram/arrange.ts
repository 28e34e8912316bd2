import { condense } from './condense.ts'
import { DETAILS, type Detail, MAX_STACKED_HEIGHT } from './detail.ts'
import type { DiagramContent } from './diagram-content.ts'
import { type Layout, layOut } from './layout.ts'
import type { Patch } from './patch.ts'

type Arrangement = { content: DiagramContent; layout: Layout }

const arrangeIn = (patch: Patch, detail: Detail): Arrangement => {
  const content = condense(patch, detail)
  return { content, layout: layOut(content) }
}

/** Chooses what to draw and where, in the finest detail that keeps the diagram below its maximum height. */
export const arrange = (patch: Patch): Arrangement => {
  const [finest, ...coarser] = DETAILS
  let arranged = arrangeIn(patch, finest)
  for (const detail of coarser) {
    if (!arranged.content.isStacked || arranged.layout.height <= MAX_STACKED_HEIGHT) break
    arranged = arrangeIn(patch, detail)
  }
  return arranged
}
