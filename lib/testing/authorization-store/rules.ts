import type { ContractRule } from '../rule'
import { absenceRules } from './absence-rules'
import { confirmationRules } from './confirmation-rules'
import { expiryRules } from './expiry-rules'
import { findRules } from './find-rules'
import { raceRules } from './race-rules'
import { removeRules } from './remove-rules'
import { replacementRules } from './replacement-rules'
import { creationRules } from './creation-rules'
import type { StoreUnderTest } from './store-under-test'

export type { StoreUnderTest } from './store-under-test'

/** What every `AuthorizationStore` has to keep. */
export const authorizationStoreRules: readonly ContractRule<StoreUnderTest>[] = [
  ...findRules,
  ...creationRules,
  ...replacementRules,
  ...confirmationRules,
  ...removeRules,
  ...absenceRules,
  ...expiryRules,
  ...raceRules,
]
