import { condense } from './condense.ts'
import { DETAILS, type Detail, MAX_GATHERED_HEIGHT } from './detail.ts'
import { type Layout, layOut } from './layout.ts'
import type { Patch } from './patch.ts'
import type { Sheet } from './sheet.ts'

type Arrangement = { sheet: Sheet; layout: Layout }

const arrangeIn = (patch: Patch, detail: Detail): Arrangement => {
  const sheet = condense(patch, detail)
  return { sheet, layout: layOut(sheet) }
}

/** What of a patch is drawn, and where: in as much detail as goes into a picture that is still seen as a whole. */
export const arrange = (patch: Patch): Arrangement => {
  const [finest, ...coarser] = DETAILS
  let arranged = arrangeIn(patch, finest)
  for (const detail of coarser) {
    if (!arranged.sheet.isGathered || arranged.layout.height <= MAX_GATHERED_HEIGHT) break
    arranged = arrangeIn(patch, detail)
  }
  return arranged
}
