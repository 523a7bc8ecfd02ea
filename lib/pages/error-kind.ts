import { rowOf } from '../protocol/refusals'
import { en, type ErrorKind } from './texts/catalogues'

export function errorKindOf(reason: string, isTrouble: boolean): ErrorKind {
  const row = rowOf(reason)
  if (isKind(row?.page)) return row.page
  if (isTrouble) return 'unavailable'
  // Otherwise, the suite refuses what the client should not have sent.
  return row !== undefined ? 'appFault' : 'other'
}

const isKind = (page: string | undefined): page is ErrorKind =>
  page !== undefined && Object.hasOwn(en.error.explanations, page)
