import { createSalt } from '../protocol/credential'
import { derivedBytes } from '../protocol/derived-bytes'
import type { Approved, Authorization, Pending, RequestedAuthorization } from './authorization'
import type { IssueContext } from './circumstances'

const codeFrom = (salt: string) => `authorization code ${salt}`

/** An approval by a consent form, whose code can be issued again with the handle of the form, and with nothing else. */
export interface RepeatableApproval {
  readonly salt: string
  /** The circumstances in which the approval issues its code. */
  readonly context: IssueContext
}

/**
 * An approval that can be repeated: the secret of its code is derived from the handle and from a salt, which is all that
 * the record keeps of it.
 *
 * @param salt of the approval that is repeated; left out for a first one.
 */
export function repeatable(
  handle: string,
  context: IssueContext,
  salt: string = createSalt(context.random),
): RepeatableApproval {
  return { salt, context: { ...context, codeSecrets: derivedBytes(handle, codeFrom(salt)) } }
}

/** The record of an approval with what it takes to know its form again, and to answer it again as long as it may be. */
export function withForm(
  authorization: Authorization,
  { handle, request: { responseType, requestState } }: Pending,
  salt: string,
): Authorization {
  if (authorization.state === 'active') return { ...authorization, handle }
  if (authorization.state !== 'approved') return authorization
  const repetition = { salt, responseType, requestState }
  return { ...authorization, handle, code: { ...authorization.code, repetition } }
}

/** The request that was approved, as it was proposed; undefined when its answer cannot be given again. */
export function requestOfApproval(approved: Approved): RequestedAuthorization | undefined {
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, code, accessTokens } =
    approved
  const { redirectUri, redirectUriSent, repetition } = code
  // An access token was in the answer: no token goes out twice.
  if (repetition === undefined || accessTokens.length > 0) return undefined
  const { responseType, requestState } = repetition
  const request = { responseType, redirectUri, redirectUriSent, requestState }
  return { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request }
}
