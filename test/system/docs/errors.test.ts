import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { reasons, type OAuthErrorCode } from '../../../lib/index'

const page = readFileSync(join(__dirname, '../../../docs/errors.md'), 'utf8')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

test.each(Object.entries(reasons))(
  'the page of errors explains every reason of %s, and no other',
  (code, known) => {
    const rows = [...(sections.get(code) ?? '').matchAll(/^\| `([a-z0-9_]+)`/gm)].map(
      ([, reason = '']) => reason,
    )
    expect(rows.toSorted()).toEqual([...known].toSorted())
  },
)

test('every error code has reasons, and the page of errors has no section for another code', () => {
  const codes: Record<OAuthErrorCode | 'insufficient_scope' | 'insufficient_user_authentication', true> = {
    invalid_request: true,
    invalid_client: true,
    invalid_grant: true,
    invalid_scope: true,
    invalid_target: true,
    invalid_redirect_uri: true,
    invalid_client_metadata: true,
    unauthorized_client: true,
    unsupported_grant_type: true,
    unsupported_response_type: true,
    access_denied: true,
    authorization_pending: true,
    slow_down: true,
    expired_token: true,
    login_required: true,
    consent_required: true,
    interaction_required: true,
    unmet_authentication_requirements: true,
    request_not_supported: true,
    request_uri_not_supported: true,
    invalid_request_uri: true,
    invalid_request_object: true,
    registration_not_supported: true,
    server_error: true,
    temporarily_unavailable: true,
    invalid_token: true,
    invalid_dpop_proof: true,
    use_dpop_nonce: true,
    insufficient_scope: true,
    insufficient_user_authentication: true,
  }
  expect(Object.keys(reasons).toSorted()).toEqual(Object.keys(codes).toSorted())
  expect([...sections.keys()].toSorted()).toEqual(Object.keys(codes).toSorted())
})
