import type { DescribedTo, Extension } from './extension'
import { type KeptExtensionData, ownDataOf } from './extension-data'
import type { Json } from './json'

/** At these, extensions act one after the other. */
export type Door = 'resolve' | 'authorize' | 'respond' | 'describe'

export type At<Name extends Door> = Extension & Required<Pick<Extension, Name>>

/** In the order of the option `plugins`, but at `resolve` those with `prepare` last. */
export type ActingExtensions = Readonly<{ [Name in Door]: readonly At<Name>[] }>

/** Of several, the last one wins. */
export function described(
  extensions: readonly Pick<Extension, 'name' | 'describe'>[],
  data: KeptExtensionData,
  to: DescribedTo,
): Readonly<Record<string, Json>> {
  return Object.assign({}, ...extensions.map((each) => each.describe?.(ownDataOf(each.name, data), to)))
}
