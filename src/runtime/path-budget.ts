import { OperationFailure } from "./operation.js";

/** The way of the TCP that one program may ask for; planned ways count, whether or not they are gone to the end. */
export class PathBudget {
  #left_m = Number.POSITIVE_INFINITY;
  #total_m = Number.POSITIVE_INFINITY;

  /** Begins a program's budget. */
  begin(total_m: number): void {
    this.#total_m = total_m;
    this.#left_m = total_m;
  }

  /** Takes a planned way from the budget; throws `budget_exhausted`, and takes nothing, where too little is left. */
  spend(length_m: number): void {
    if (length_m > this.#left_m) {
      throw new OperationFailure(
        "budget_exhausted",
        `this way is ${length_m.toFixed(2)} m long; of the ${this.#total_m} m that one program may go, ${this.#left_m.toFixed(2)} m are left ([program] path_length_m)`,
      );
    }
    this.#left_m -= length_m;
  }
}
