import type { DescribedTo, Extension } from './extension'
import { type KeptExtensionData, ownDataOf } from './extension-data'
import type { Json } from './json'

/** At these, one after the other. */
export type Door = 'resolve' | 'authorize' | 'respond' | 'describe'

export type At<Name extends Door> = Extension & Required<Pick<Extension, Name>>

/** In the order of `plugins`; at `resolve`, those with `prepare` last. */
export type ActingExtensions = Readonly<{ [Name in Door]: readonly At<Name>[] }>

/** The last one wins. */
export function described(
  extensions: readonly Pick<Extension, 'name' | 'describe'>[],
  data: KeptExtensionData,
  to: DescribedTo,
): Readonly<Record<string, Json>> {
  return Object.assign({}, ...extensions.map((each) => each.describe?.(ownDataOf(each.name, data), to)))
}
