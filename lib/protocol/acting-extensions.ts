import type { Extension } from './extension'

/** At these, extensions act one after the other. */
export type Door =
  | 'resolveRequest'
  | 'loginDefaults'
  | 'atResourceOwner'
  | 'askOwner'
  | 'atDecision'
  | 'atTokenResponse'
  | 'claims'
  | 'atRefresh'
  | 'bindsRefreshToken'

export type At<Name extends Door> = Extension & Required<Pick<Extension, Name>>

/** In the order of the option `plugins`. */
export type ActingExtensions = Readonly<{ [Name in Door]: readonly At<Name>[] }>
