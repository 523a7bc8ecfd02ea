export interface PrivateState<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

let kinds = 0

/**
 * A value of an object of other code, which cannot see it. All kinds share one private field: two hidden classes in
 * all. A long-lived `WeakMap` would move each request to the old generation.
 */
export function privateState<Holder extends object, Value>(): PrivateState<Holder, Value> {
  const kind = kinds++
  return {
    get(holder) {
      const values: readonly Value[] | undefined = PrivateField.of(holder)
      return values?.[kind]
    },
    set(holder, value) {
      const values: Value[] = PrivateField.of(holder) ?? PrivateField.addTo(holder)
      values[kind] = value
    },
  }
}

// A subclass can add a private field to the returned object.
// oxlint-disable-next-line typescript/no-extraneous-class
class ReturnsHolder {
  constructor(holder: object) {
    return holder
  }
}

class PrivateField extends ReturnsHolder {
  // Each kind reads and writes its own place. An empty list would grow to room for 17.
  // oxlint-disable-next-line unicorn/no-new-array
  readonly #values = new Array<never>(4)

  static of(holder: object): never[] | undefined {
    return #values in holder ? holder.#values : undefined
  }

  static addTo(holder: object): never[] {
    return new PrivateField(holder).#values
  }
}
