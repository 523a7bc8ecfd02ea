/** Values beside objects of somebody else. */
export interface Beside<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

/**
 * Keeps values with objects, as long as these live, where nobody else can read, write or print them: as a private field that
 * the object gets late.
 *
 * A `WeakMap` says the same, but it lives long, and what an old table refers to survives the quick collections of V8: each
 * request would be carried to the old generation with it.
 */
export function beside<Holder extends object, Value>(): Beside<Holder, Value> {
  return class Kept extends Itself {
    #value: Value

    constructor(holder: Holder, value: Value) {
      super(holder)
      this.#value = value
    }

    static get(holder: Holder): Value | undefined {
      return #value in holder ? holder.#value : undefined
    }

    static set(holder: Holder, value: Value): void {
      if (#value in holder) holder.#value = value
      else Reflect.construct(Kept, [holder, value])
    }
  }
}

// Constructed, it is the object that it was given: that is how a class can give a field to an object of somebody else.
// oxlint-disable-next-line typescript/no-extraneous-class
class Itself {
  constructor(holder: object) {
    return holder
  }
}
