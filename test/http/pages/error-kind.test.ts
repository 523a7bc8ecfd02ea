import { errorKindOf } from '../../../lib/http/pages/error-kind'

it.each([
  ['authorization_request_expired', false, 'requestOver'],
  ['authorization_request_of_another_owner', false, 'anotherAccount'],
  ['owner_not_hinted', false, 'anotherAccount'],
  ['owner_not_logged_in', false, 'notSignedIn'],
  ['login_loop', false, 'loginLost'],
  ['client_unknown', false, 'appUnknown'],
  ['client_document_unreachable', true, 'appUnreachable'],
  ['redirect_uri_mismatch', false, 'appFault'],
  ['parameter_missing', false, 'appFault'],
  ['rate_limited', true, 'tooMany'],
  ['store_unavailable', true, 'unavailable'],
  ['decision_cross_site', false, 'otherSite'],
  ['decision_unknown', false, 'incompleteForm'],
  ['tls_required', false, 'unprotected'],
  ['reason_of_a_host', false, 'other'],
  ['reason_of_a_host', true, 'unavailable'],
  ['constructor', false, 'other'],
])('%s (trouble: %s) is explained as %s', (reason, isTrouble, kind) => {
  expect(errorKindOf(reason, isTrouble)).toBe(kind)
})
