import type { Lifecycle } from '../lib/process/lifecycle.ts'
import { createSuspensionList, type SuspensionListParts } from './suspension-list.ts'
import { createSuspensionService, type SuspensionServiceParts } from './suspensions.service.ts'

export const suspensionsPlugin = async (needs: SuspensionListParts & SuspensionServiceParts, lifecycle: Lifecycle) => {
  const list = await createSuspensionList(needs)
  lifecycle.onClose(list.close)
  return {
    suspensions: list.suspensions,
    onSuspensionChange: list.onChange,
    suspensionService: createSuspensionService(needs),
  }
}
