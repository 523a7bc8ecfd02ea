import type { CommittedTransition } from '../authorization/witness'
import type { GuardedAccess } from '../protected-resource/guarded-access'
import { digest } from '../protocol/credential'
import { fingerprintOfDigest } from './credential-mark'

/** What is known of a request beside its answer, for its events alone. */
export interface AuditNotes {
  readonly move?: CommittedTransition | undefined
  /** What its access token stands for. */
  readonly access?: GuardedAccess | undefined
  readonly authorizationId?: string | undefined
  /** The credential that it showed. */
  readonly shown?: string | undefined
  readonly grantType?: string | undefined
  readonly responseType?: string | undefined
  /** The client that it names. */
  readonly claimedClientId?: string | undefined
  /** Whether that client is registered: only then the name may be told, which else may be a secret in the wrong place. */
  readonly isRegistered?: boolean
}

/** Nothing yet, with a place for all: objects of one shape are quicker to fill. */
export const noNotes = (): AuditNotes => ({
  move: undefined,
  access: undefined,
  authorizationId: undefined,
  shown: undefined,
  grantType: undefined,
  responseType: undefined,
  claimedClientId: undefined,
  isRegistered: false,
})

/** Whose authorization a request came upon; undefined what is not known of it. */
export interface AuditedAuthorization {
  readonly authorizationId: string | undefined
  readonly clientId: string | undefined
  readonly subject: string | undefined
}

export function authorizationOfNotes({ move, access, authorizationId }: AuditNotes): AuditedAuthorization {
  const record = move?.found ?? (typeof move?.write === 'object' ? move.write : undefined)
  const { clientId, subject } = record !== undefined && 'clientId' in record ? record : (access ?? nobody)
  return { authorizationId: record?.id ?? access?.authorizationId ?? authorizationId, clientId, subject }
}

const nobody = { clientId: undefined, subject: undefined }

/** The client that a request names, as an event tells it: 8 digits of its digest unless it is registered. */
export function claimedClientOf({ claimedClientId, isRegistered }: AuditNotes): string | undefined {
  if (claimedClientId === undefined || isRegistered === true) return claimedClientId
  return fingerprintOfDigest(digest(claimedClientId))
}

/** The response type of the authorization request that was decided, or was approved already when it came. */
export function responseTypeOf({ move, responseType }: AuditNotes): string | undefined {
  if (move?.found?.state === 'pending') return move.found.request.responseType
  const isRepeated = move?.write === 'confirmation' && move.found?.state === 'approved'
  return isRepeated ? move.found.code.repetition?.responseType : responseType
}
