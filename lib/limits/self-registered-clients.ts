import type { OptionsReader } from '../primitives/options-reader'
import { isWhole } from '../primitives/values'

const isShare = (value: unknown): value is number | false => value === false || isWhole(1, 1000)(value)

/** @param authorizations whether the server has the index of owners, in which the share counts. */
export function readSelfRegisteredShare(fields: OptionsReader, authorizations: boolean): number | undefined {
  const key = 'selfRegisteredClients'
  const given = fields.optional<number | false | undefined>(
    key,
    undefined,
    isShare,
    'must be false or a whole number, 1 to 1000.',
  )
  if (typeof given === 'number' && !authorizations)
    fields.wrong(key, 'needs the option authorizations: true, because it counts what an owner has approved.')
  return given === false || !authorizations ? undefined : (given ?? 50)
}
