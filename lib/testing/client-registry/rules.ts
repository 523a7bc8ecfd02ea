import type { ContractRule } from '../rule'
import { additionRules } from './addition-rules'
import { changeRules } from './change-rules'
import type { ClientsUnderTest } from './clients-under-test'

export type { ClientsUnderTest } from './clients-under-test'

/** What every `ClientRegistry` has to keep. */
export const clientRegistryRules: readonly ContractRule<ClientsUnderTest>[] = [
  ...additionRules,
  ...changeRules,
]
