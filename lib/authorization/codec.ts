import type {
  AccessToken,
  Authorization,
  Code,
  PendingRequest,
  RefreshToken,
  Rotation,
} from './authorization'
import { StoredFields } from './stored-fields'

/** Writes an authorization as text for a store; it holds digests only. */
export function encodeAuthorization(authorization: Authorization): string {
  return JSON.stringify(authorization)
}

/** Reads what {@link encodeAuthorization} wrote. @throws Error when the text is anything else. */
export function decodeAuthorization(text: string): Authorization {
  const fields = StoredFields.parse(text)
  const state = fields.text('state')
  switch (state) {
    case 'pending':
      return {
        ...grant(fields),
        state,
        subject: fields.text('subject'),
        request: pendingRequest(fields.object('request')),
        handle: fields.text('handle'),
        expiresAt: fields.integer('expiresAt'),
      }
    case 'denied':
      return { state, id: fields.text('id'), expiresAt: fields.integer('expiresAt') }
    case 'approved':
      return {
        ...grant(fields),
        state,
        subject: fields.text('subject'),
        code: code(fields.object('code')),
        accessTokens: fields.objects('accessTokens').map(accessToken),
      }
    case 'active':
      return {
        ...grant(fields),
        state,
        subject: fields.optional('subject', asText),
        spentCode: fields.optional('spentCode', asText),
        accessTokens: fields.objects('accessTokens').map(accessToken),
        refreshToken: fields.optional('refreshToken', refreshToken),
      }
    default:
      throw new Error(`A stored authorization is not readable by this version: its state is "${state}".`)
  }
}

const asText = (fields: StoredFields, key: string) => fields.text(key)
const asJson = (fields: StoredFields, key: string) => fields.json(key)

function grant(fields: StoredFields) {
  return {
    id: fields.text('id'),
    clientId: fields.text('clientId'),
    scope: fields.texts('scope'),
    tokenType: fields.text('tokenType'),
    bindings: fields.bindings('bindings'),
  }
}

function pendingRequest(fields: StoredFields): PendingRequest {
  return {
    responseType: fields.text('responseType'),
    redirectUri: fields.text('redirectUri'),
    redirectUriSent: fields.boolean('redirectUriSent'),
    requestState: fields.optional('requestState', asText),
  }
}

function code(fields: StoredFields): Code {
  return {
    digest: fields.text('digest'),
    redirectUri: fields.text('redirectUri'),
    redirectUriSent: fields.boolean('redirectUriSent'),
    failures: fields.integer('failures'),
    expiresAt: fields.integer('expiresAt'),
  }
}

function accessToken(fields: StoredFields): AccessToken {
  return {
    digest: fields.text('digest'),
    scope: fields.texts('scope'),
    expiresAt: fields.integer('expiresAt'),
    kept: fields.optional('kept', asJson),
  }
}

function refreshToken(parent: StoredFields, key: string): RefreshToken {
  const fields = parent.object(key)
  return {
    digest: fields.text('digest'),
    generation: fields.integer('generation'),
    tagKey: fields.text('tagKey'),
    expiresAt: fields.integer('expiresAt'),
    rotation: fields.optional('rotation', rotation),
  }
}

function rotation(parent: StoredFields, key: string): Rotation {
  const fields = parent.object(key)
  return { at: fields.integer('at'), sealedAnswer: fields.text('sealedAnswer') }
}
