/* SPDX-License-Identifier: MIT */
#include "mpi/gaps.h"

#include <stdlib.h>

#include "base/pages.h"
#include "mpi/real.h"

/* A type with more blocks is not looked into. */
enum { INTEGERS_MAX = 1 << 16, NESTING_MAX = 16 };

/* The envelope: how many arguments of each kind made the type. */
struct recipe {
    int combiner;
    MPI_Count integers;
    MPI_Count addresses;
    MPI_Count large_counts;
    MPI_Count types;
};

/* The arguments that matter here. */
struct ingredients {
    int first_integer;
    MPI_Count first_large_count;
    MPI_Datatype type;
};

/* A type that a large-count function made can only be asked by a large-count
 * function (MPI 4.1, 5.1.13). */
static bool recipe_read(MPI_Datatype datatype, struct recipe *recipe)
{
    int integers;
    int addresses;
    int types;
    *recipe = (struct recipe){0};
    if (real.MPI_Type_get_envelope_c != NULL)
        return real.MPI_Type_get_envelope_c(datatype, &recipe->integers, &recipe->addresses, &recipe->large_counts,
                                            &recipe->types, &recipe->combiner) == MPI_SUCCESS;
    if (real.MPI_Type_get_envelope(datatype, &integers, &addresses, &types, &recipe->combiner) != MPI_SUCCESS)
        return false;
    recipe->integers = integers;
    recipe->addresses = addresses;
    recipe->types = types;
    return true;
}

static int contents_get(MPI_Datatype datatype, const struct recipe *recipe, int *integers, MPI_Aint *addresses,
                        MPI_Count *large_counts, MPI_Datatype *type)
{
    if (real.MPI_Type_get_contents_c != NULL)
        return real.MPI_Type_get_contents_c(datatype, recipe->integers, recipe->addresses, recipe->large_counts, 1,
                                            integers, addresses, large_counts, type);
    return real.MPI_Type_get_contents(datatype, (int)recipe->integers, (int)recipe->addresses, 1, integers, addresses,
                                      type);
}

/* Of a type made of one other type. */
static bool ingredients_read(MPI_Datatype datatype, const struct recipe *recipe, struct ingredients *ingredients)
{
    MPI_Count total = recipe->integers + recipe->addresses + recipe->large_counts;
    if (recipe->types != 1 || total > INTEGERS_MAX)
        return false;
    MPI_Count *large_counts = calloc((size_t)recipe->large_counts + 1, sizeof *large_counts);
    MPI_Aint *addresses = calloc((size_t)recipe->addresses + 1, sizeof *addresses);
    int *integers = calloc((size_t)recipe->integers + 1, sizeof *integers);
    bool is_read = large_counts != NULL && addresses != NULL && integers != NULL &&
                   contents_get(datatype, recipe, integers, addresses, large_counts, &ingredients->type) == MPI_SUCCESS;
    if (is_read) {
        ingredients->first_integer = integers[0];
        ingredients->first_large_count = large_counts[0];
    }
    free(integers);
    free(addresses);
    free(large_counts);
    return is_read;
}

static bool combiner_is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* A byte stride may lead from one block of memory to another, but not further:
 * three blocks in a row do not lie equally far apart. */
static bool combiner_is_array(int combiner, const struct ingredients *ingredients)
{
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_RESIZED:
        return true;
    case MPI_COMBINER_HVECTOR:
        return ingredients->first_integer > 2 || ingredients->first_large_count > 2;
    default:
        return false;
    }
}

/* Its gaps are too small for memory of somebody else's: blocks of the size that
 * is held do not begin and end within a page. */
static bool type_is_small(MPI_Datatype datatype)
{
    MPI_Aint lower_bytes;
    MPI_Aint extent_bytes;
    return real.MPI_Type_get_true_extent(datatype, &lower_bytes, &extent_bytes) == MPI_SUCCESS &&
           extent_bytes <= (MPI_Aint)base_page_bytes();
}

static bool type_is_array(MPI_Datatype datatype, int nesting)
{
    struct recipe recipe;
    struct ingredients ingredients;
    if (type_is_small(datatype))
        return true;
    if (nesting == NESTING_MAX || !recipe_read(datatype, &recipe))
        return false;
    if (combiner_is_predefined(recipe.combiner))
        return true;
    if (!ingredients_read(datatype, &recipe, &ingredients))
        return false;
    bool is_array = combiner_is_array(recipe.combiner, &ingredients) && type_is_array(ingredients.type, nesting + 1);
    if (recipe_read(ingredients.type, &recipe) && !combiner_is_predefined(recipe.combiner))
        real.MPI_Type_free(&ingredients.type); /* a new handle of our own */
    return is_array;
}

static bool type_is_in_order(MPI_Datatype datatype, int nesting)
{
    struct recipe recipe;
    struct ingredients ingredients;
    if (nesting == NESTING_MAX || !recipe_read(datatype, &recipe))
        return false;
    if (combiner_is_predefined(recipe.combiner))
        return true;
    bool is_row = recipe.combiner == MPI_COMBINER_DUP || recipe.combiner == MPI_COMBINER_CONTIGUOUS;
    if (!is_row || !ingredients_read(datatype, &recipe, &ingredients))
        return false;
    bool is_in_order = type_is_in_order(ingredients.type, nesting + 1);
    if (recipe_read(ingredients.type, &recipe) && !combiner_is_predefined(recipe.combiner))
        real.MPI_Type_free(&ingredients.type); /* as above */
    return is_in_order;
}

static bool type_is_dense(MPI_Datatype datatype)
{
    MPI_Aint lower_bytes;
    MPI_Aint extent_bytes;
    MPI_Aint true_lower_bytes;
    MPI_Aint true_extent_bytes;
    int size_bytes;
    return real.MPI_Type_size(datatype, &size_bytes) == MPI_SUCCESS &&
           real.MPI_Type_get_extent(datatype, &lower_bytes, &extent_bytes) == MPI_SUCCESS &&
           real.MPI_Type_get_true_extent(datatype, &true_lower_bytes, &true_extent_bytes) == MPI_SUCCESS &&
           true_lower_bytes == 0 && size_bytes == extent_bytes && size_bytes == true_extent_bytes;
}

bool gaps_are_none(MPI_Datatype datatype)
{
    return type_is_dense(datatype) && type_is_in_order(datatype, 0);
}

bool gaps_are_of_an_array(MPI_Datatype datatype)
{
    return type_is_array(datatype, 0);
}
