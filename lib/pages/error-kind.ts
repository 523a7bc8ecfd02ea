import { rowOf, type Reason } from '../protocol/refusals'
import type { ErrorKind } from './texts/en'

const kinds: Readonly<Partial<Record<Reason, ErrorKind>>> = {
  authorization_request_unknown: 'requestOver',
  authorization_request_not_open: 'requestOver',
  authorization_request_expired: 'requestOver',
  request_uri_unknown: 'requestOver',
  request_object_expired: 'requestOver',
  authorization_request_of_another_owner: 'anotherAccount',
  owner_not_logged_in: 'notSignedIn',
  login_loop: 'loginLost',
  login_not_renewed: 'loginLost',
  owner_not_hinted: 'anotherAccount',
  client_unknown: 'appUnknown',
  client_disabled: 'appUnknown',
  client_document_not_allowed: 'appUnknown',
  client_document_malformed: 'appUnreachable',
  client_document_unreachable: 'appUnreachable',
  client_document_refused: 'appUnreachable',
  client_document_limited: 'appUnreachable',
  decision_cross_site: 'otherSite',
  form_cross_site: 'otherSite',
  decision_unknown: 'incompleteForm',
  decision_fields_missing: 'incompleteForm',
  decision_scope_wrong: 'incompleteForm',
  decision_choice_wrong: 'incompleteForm',
  body_aborted: 'incompleteForm',
  body_too_slow: 'incompleteForm',
  tls_required: 'unprotected',
  rate_limited: 'tooMany',
  too_many_open_requests: 'tooMany',
  self_registered_share_full: 'tooManyApps',
  client_issue_limited: 'tooMany',
  owner_issue_limited: 'tooMany',
  single_use_limited: 'tooMany',
}

const kindByReason: ReadonlyMap<string, ErrorKind> = new Map(Object.entries(kinds))

export function errorKindOf(reason: string, isTrouble: boolean): ErrorKind {
  const known = kindByReason.get(reason)
  if (known !== undefined) return known
  if (isTrouble) return 'unavailable'
  // Otherwise, the suite refuses what the client should not have sent.
  return rowOf(reason) !== undefined ? 'appFault' : 'other'
}
